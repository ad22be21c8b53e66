/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FORTRAN_H
#define TERN_FORTRAN_H

/*
 * Fortran's integers for C handles: an index into a table per kind of handle. Predefined handles
 * have the fixed indices of Open MPI; others get one when first asked for and keep it until the
 * object goes.
 */

#include "lib/util/handle.h"

#include <mpi.h>
#include <stdbool.h>

/* Returns the index of a handle of any kind, or -1 (of no handle) when memory is out. */
MPI_Fint tern_fortran_index(struct tern_handle *handle);

/* What our Fortran libraries use of libmpi is exported. */
#define TERN_FOR_FORTRAN __attribute__((visibility("default")))

/* Handles by index, NULL where an index is free. A table may be read while another thread puts a
 * longer one in its place: the short one stays. */
struct tern_fortran_table {
    struct tern_fortran_table *shorter;
    unsigned room;
    struct tern_handle *handles[];
};
/* One for each kind; NULL before the first use. */
extern TERN_FOR_FORTRAN struct tern_fortran_table
    *tern_fortran_tables[TERN_MAGIC_SESSION - TERN_MAGIC_COMM + 1];

/* Returns the handle of `magic` with this index, or NULL. */
TERN_FOR_FORTRAN struct tern_handle *tern_fortran_handle(enum tern_magic magic, MPI_Fint index);

/* The same for a table that is in use. */
static inline struct tern_handle *tern_fortran_find(enum tern_magic magic, MPI_Fint index)
{
    const struct tern_fortran_table *table =
        __atomic_load_n(&tern_fortran_tables[magic - TERN_MAGIC_COMM], __ATOMIC_ACQUIRE);

    return __builtin_expect((unsigned)index < table->room, 1) ? table->handles[index] : NULL;
}

/* Whose functions and attribute values an MPI call passes. */
enum tern_language {
    TERN_LANGUAGE_C,
    TERN_LANGUAGE_FORTRAN,    /* attribute values have the size of an address */
    TERN_LANGUAGE_FORTRAN_77, /* attribute values are default integers: MPI-1's procedures */
};

/* Says in which language the next MPI call of this thread was made. Say TERN_LANGUAGE_C behind that
 * call. */
TERN_FOR_FORTRAN void tern_fortran_calls(enum tern_language language);
/* Returns what tern_fortran_calls said. From here on the thread calls from C again: callbacks may.
 */
enum tern_language tern_fortran_caller(void);

/* To be called when an object goes, so that its index is free again. */
void tern_fortran_drop(struct tern_object *object);

/* Raises an error of class MPI_ERR_BUFFER on the communicator (NULL or no communicator: as where a
 * call has none) and returns the code. `what` is a sentence: what was found, and the cure. */
TERN_FOR_FORTRAN int tern_fortran_refuse(MPI_Comm comm, const char *procedure, const char *what);

/* Calls `finish` when the request is reported complete, before its user is told. Returns false if
 * that will not come, because the request is complete already or there is no memory. */
TERN_FOR_FORTRAN bool tern_fortran_finish_with(MPI_Request request, void (*finish)(void *),
                                               void *argument);

#endif
