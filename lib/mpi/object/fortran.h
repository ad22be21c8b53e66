/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FORTRAN_H
#define TERN_FORTRAN_H

/*
 * The integers by which Fortran names C handles: indices into one table per kind of handle.
 * Predefined handles have the fixed indices of Open MPI. Any other handle gets its index when first
 * asked for, and keeps it until the object is freed.
 */

#include "lib/mpi/object/face.h"
#include "lib/util/base/handle.h"

#include <mpi.h>
#include <stdbool.h>

/* Returns the index of a handle of any kind. Returns -1, which is no handle's index, if there is no
 * memory. */
MPI_Fint tern_fortran_index(struct tern_handle *handle);

/* Exports what Tern's Fortran libraries use of libmpi. */
#define TERN_FOR_FORTRAN __attribute__((visibility("default")))

/* Handles by index; NULL where an index is free. A thread may read a table while another thread
 * replaces it by a longer one: the short table is kept. */
struct tern_fortran_table {
    /* the table that this one has replaced; NULL for the first */
    struct tern_fortran_table *shorter;
    unsigned room; /* number of elements of `handles` */
    struct tern_handle *handles[];
};
/* The table of each kind; NULL before the first use. */
extern TERN_FOR_FORTRAN struct tern_fortran_table
    *tern_fortran_tables[TERN_MAGIC_SESSION - TERN_MAGIC_COMM + 1];

/* The first elements of each table once more. A Fortran call finds its handles here with one
 * comparison. Few programs have more objects of a kind at a time. */
enum { TERN_FORTRAN_FEW = 1024 };
extern TERN_FOR_FORTRAN struct tern_handle
    *tern_fortran_few[TERN_MAGIC_SESSION - TERN_MAGIC_COMM + 1][TERN_FORTRAN_FEW];

/* Returns the handle of kind `magic` with this index, or NULL. */
TERN_FOR_FORTRAN struct tern_handle *tern_fortran_handle(enum tern_magic magic, MPI_Fint index);

/* Does what tern_fortran_handle does, for a table that is in use. */
static inline struct tern_handle *tern_fortran_find(enum tern_magic magic, MPI_Fint index)
{
    if (__builtin_expect((unsigned)index < TERN_FORTRAN_FEW, 1))
        return tern_fortran_few[magic - TERN_MAGIC_COMM][index];
    const struct tern_fortran_table *table =
        __atomic_load_n(&tern_fortran_tables[magic - TERN_MAGIC_COMM], __ATOMIC_ACQUIRE);
    return (unsigned)index < table->room ? table->handles[index] : NULL;
}

/* Sets the language of the next MPI call of this thread. Set TERN_LANGUAGE_C after that call. */
TERN_FOR_FORTRAN void tern_fortran_calls(enum tern_language language);
/* Returns the language of the face that tern_face_caller returns. */
enum tern_language tern_fortran_caller(void);

/* Frees the index of an object. Call it when the object is freed. */
void tern_fortran_drop(struct tern_object *object);

/* Raises an error of class MPI_ERR_BUFFER on the communicator and returns the error code. If `comm`
 * is NULL or no communicator, raises the error as for a call without one. `what` is a sentence:
 * what was found, and the cure. */
TERN_FOR_FORTRAN int tern_fortran_refuse(MPI_Comm comm, const char *procedure, const char *what);

/* The turns of a request's life at which followers are called. A request that is not persistent is
 * only freed. */
enum tern_request_turn {
    TERN_REQUEST_STARTS,   /* a persistent request is about to start */
    TERN_REQUEST_REPORTED, /* a persistent request is complete; next, a call returns its status */
    TERN_REQUEST_FREED,    /* the request is complete, or inactive, and ends; the last turn */
};
typedef void tern_request_follow_fn(void *argument, enum tern_request_turn turn);

/* Has `follow` called with `argument` at each turn of the request, in the thread of the user's call
 * and without a lock. Returns false if `follow` will not be called, because the request is already
 * complete or there is no memory. */
TERN_FOR_FORTRAN bool tern_fortran_follow(MPI_Request request, tern_request_follow_fn *follow,
                                          void *argument);

#endif
