/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ENTRY_H
#define TERN_ENTRY_H

/*
 * What the generated entry points (entry_*.c) use: predicates on arguments, and the functions that
 * refuse an argument.
 *
 * Predicates are inline and cheap, because every message passes them. The tern_entry_refuse_*
 * functions run only after an error. They record one text that says which argument was wrong, its
 * value and what is allowed. Then they call the error handler of `object` (see tern_raise_on) and
 * return the MPI error code for the caller. They hold no lock.
 */

#include "lib/mpi/check/check.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/face.h"
#include "lib/mpi/message/p2p.h"
#include "lib/mpi/life/raise.h"
#include "lib/mpi/object/running.h"
#include "lib/mpi/object/session.h"
#include "lib/mpi/tool/tool.h"
#include "lib/mpi/win/win.h"
#include "lib/pml/pml.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/error.h"
#include "lib/util/base/handle.h"
#include "lib/util/base/ints.h"

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

/* Marks the copy of a procedure that also does everything that is rarely wanted; see tern_gate. */
#define TERN_CHECKED __attribute__((cold, noinline))

/* Exports a function from the library. */
#define TERN_EXPORT __attribute__((visibility("default")))

/* Take and release the library's lock around every implementing function, if there are threads. */
static inline void tern_enter(void)
{
    if (TERN_UNLIKELY(tern_threads))
        tern_lock();
}

static inline void tern_leave(void)
{
    if (TERN_UNLIKELY(tern_threads))
        tern_unlock();
}

/* ---- Handles ---- */

/* Returns true if the handle is of this kind, not freed and not the null handle. */
static inline bool tern_entry_valid(const void *handle, enum tern_magic magic)
{
    const struct tern_handle *h = handle;
    return h && tern_handle_is(h, magic) && h->state;
}

/* Takes back one of the user's handles of an object. Returns false if the handle is not of this
 * kind, or if the user has freed it before, though the object still lives. */
static inline bool tern_entry_valid_taken(const void *handle, enum tern_magic magic)
{
    return tern_entry_valid(handle, magic) &&
           tern_object_take_back(((const struct tern_handle *)handle)->state);
}

/* Returns true if the handle is of this kind and not freed. The null handle is valid, too. */
static inline bool tern_entry_valid_or_null(const void *handle, enum tern_magic magic)
{
    const struct tern_handle *h = handle;
    return h && tern_handle_is(h, magic);
}

/* Returns the private object of a valid handle; NULL for the null handle. */
static inline void *tern_entry_state(const void *handle)
{
    return ((const struct tern_handle *)handle)->state;
}

/* Returns the user's handle of a private object, whose first member is a struct tern_object.
 * Returns `null` if `object` is NULL. */
static inline void *tern_entry_handle(const void *object, void *null)
{
    return object ? (void *)((const struct tern_object *)object)->handle : null;
}

/* ---- Ranks ---- */

/* Returns true if `rank` is not 0 to size - 1. */
static inline bool tern_entry_outside(const struct tern_comm *comm, int rank)
{
    return (unsigned)rank >= (unsigned)comm->p2p.size;
}

/* Returns true if `rank` is no valid destination. */
static inline bool tern_entry_bad_dest(const struct tern_comm *comm, int rank)
{
    return TERN_UNLIKELY(tern_entry_outside(comm, rank)) && rank != MPI_PROC_NULL;
}

/* Returns true if `rank` is no valid source. MPI_ANY_SOURCE is valid unless a hint promises not to
 * use it. */
static inline bool tern_entry_bad_source(const struct tern_comm *comm, int rank)
{
    return TERN_UNLIKELY(tern_entry_outside(comm, rank)) && rank != MPI_PROC_NULL &&
           (rank != MPI_ANY_SOURCE || comm->hints & TERN_COMM_NO_ANY_SOURCE);
}

/* Return true if `rank` is no rank of the window, and no valid target: MPI_PROC_NULL is one. */
static inline bool tern_entry_bad_member(const struct tern_win *win, int rank)
{
    return TERN_UNLIKELY((unsigned)rank >= (unsigned)win->window.size);
}

static inline bool tern_entry_bad_target(const struct tern_win *win, int rank)
{
    return tern_entry_bad_member(win, rank) && rank != MPI_PROC_NULL;
}

/* Returns true if `tag` is not valid for a receive. MPI_ANY_TAG is valid unless a hint promises not
 * to use it. */
static inline bool tern_entry_bad_wanted_tag(const struct tern_comm *comm, int tag)
{
    return TERN_UNLIKELY(tag < 0) && (tag != MPI_ANY_TAG || comm->hints & TERN_COMM_NO_ANY_TAG);
}

/* Returns true if `root` is no valid root. On an intercommunicator MPI_ROOT and MPI_PROC_NULL are
 * valid: the processes in the root's own group pass them. */
static inline bool tern_entry_bad_root(const struct tern_comm *comm, int root)
{
    return TERN_UNLIKELY(tern_entry_outside(comm, root)) &&
           !(tern_comm_inter(comm) && (root == MPI_ROOT || root == MPI_PROC_NULL));
}

/* Tell whether the arguments of a rooted collective are significant on this process: at the root,
 * at processes that exchange data with the root, and at all processes that take part. */
static inline bool tern_entry_at_root(const struct tern_comm *comm, int root)
{
    return tern_comm_inter(comm) ? root == MPI_ROOT : root == comm->p2p.rank;
}

static inline bool tern_entry_off_root(const struct tern_comm *comm, int root)
{
    return !tern_comm_inter(comm) || root >= 0;
}

static inline bool tern_entry_takes_part(const struct tern_comm *comm, int root)
{
    return !tern_comm_inter(comm) || root != MPI_PROC_NULL;
}

/* ---- Buffers and arrays ---- */

/* Returns true if `buf` is NULL or MPI_IN_PLACE where it must not be. NULL is MPI_BOTTOM: valid for
 * a type made of absolute addresses, wrong for a type that begins at the buffer. */
static inline bool tern_entry_bad_buffer(const void *buf, MPI_Count count,
                                         const struct tern_datatype *datatype)
{
    return TERN_UNLIKELY((uintptr_t)buf <= (uintptr_t)MPI_IN_PLACE) && count > 0 &&
           (buf || (datatype->type.true_lb == 0 && datatype->type.size > 0));
}

/* Returns true if both buffers have the same first byte, and check_level is not none. */
bool tern_entry_aliased(MPI_Count sendcount, const struct tern_datatype *sendtype,
                        MPI_Count recvcount, const struct tern_datatype *recvtype);

/* Returns true if one buffer is given in the place of two. Equal addresses are right for types that
 * choose different bytes, and NULL is MPI_BOTTOM. */
static inline bool tern_entry_same_buffer(const void *sendbuf, MPI_Count sendcount,
                                          const struct tern_datatype *sendtype, const void *recvbuf,
                                          MPI_Count recvcount, const struct tern_datatype *recvtype)
{
    return TERN_UNLIKELY(sendbuf == recvbuf) && sendbuf &&
           tern_entry_aliased(sendcount, sendtype, recvcount, recvtype);
}

/* Returns true if `count` elements have more bytes than 63 bits can count. */
static inline bool tern_entry_too_long(MPI_Count count, const struct tern_datatype *datatype)
{
    MPI_Count bytes;
    return TERN_UNLIKELY(__builtin_mul_overflow(count, datatype->type.size, &bytes));
}

/* Returns the index of the first of `n` elements that is less than `least`, or -1. Returns -1 at
 * check_level none. */
static inline int64_t tern_entry_find_below(struct tern_ints ints, int64_t n, int64_t least)
{
    return tern_check_level() == TERN_CHECK_NONE ? -1 : tern_ints_find_below(ints, n, least);
}

/* Returns the index of the first count that is too long for types[i], or -1. If `types` is NULL,
 * the counts are for the one type `datatype`. */
int64_t tern_entry_find_too_long(struct tern_ints counts, int64_t n, const MPI_Datatype types[],
                                 const struct tern_datatype *datatype);
/* Returns the index of the first handle that is neither a request nor MPI_REQUEST_NULL, or -1. */
int64_t tern_entry_find_bad_request(const MPI_Request requests[], int64_t n);

/* Names the procedure of this thread that waits in collectives and messages of its own; NULL: it
 * has ended. */
static inline void tern_entry_name(const char *procedure)
{
    tern_wait_procedure = procedure;
}

/* ---- Refusals ---- */

/* Marks a refusal: it runs rarely and is never inlined. Each function below returns the MPI error
 * code. */
#define TERN_ENTRY_REFUSAL __attribute__((cold, noinline))

/* Refuses a handle of the wrong kind, a freed handle or the null handle, which has the name
 * `null_name`. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_handle(struct tern_object *object, const char *procedure,
                                                int code, const char *argument, const void *handle,
                                                const char *null_name);
/* Refuses a NULL pointer. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_null(struct tern_object *object, const char *procedure,
                                              int code, const char *argument);
/* Refuses a value that is less than `least`. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_small(struct tern_object *object, const char *procedure,
                                               int code, const char *argument, MPI_Count value,
                                               int least);
/* Refuses the element at `index` of an array, which is less than `least`. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_element(struct tern_object *object, const char *procedure,
                                                 int code, const char *argument,
                                                 struct tern_ints ints, int64_t index, int least);
/* Refuses a rank. `object` is the struct tern_comm of the rank. `also` names what is allowed
 * besides 0 to size - 1, for example " or MPI_PROC_NULL". */
TERN_ENTRY_REFUSAL int tern_entry_refuse_rank(struct tern_object *object, const char *procedure,
                                              int code, const char *argument, int rank,
                                              const char *also);
/* Refuses a rank of a window. `object` is the struct tern_win. `none_allowed`: MPI_PROC_NULL is
 * valid, too. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_target(struct tern_object *object, const char *procedure,
                                                const char *argument, int rank, bool none_allowed);
/* Refuses a root. `object` is the struct tern_comm. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_root(struct tern_object *object, const char *procedure,
                                              const char *argument, int root);
/* Refuses a tag. `any_allowed` is true for a receive, which may use MPI_ANY_TAG. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_tag(struct tern_object *object, const char *procedure,
                                             const char *argument, int tag, bool any_allowed);
/* Refuses one buffer in the place of two. `in_place` names the one that may be MPI_IN_PLACE. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_alias(struct tern_object *object, const char *procedure,
                                               const char *in_place);
/* Refuses a buffer that is NULL or MPI_IN_PLACE. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_buffer(struct tern_object *object, const char *procedure,
                                                const char *argument, const void *buf,
                                                MPI_Count count);
/* Refuses a datatype that is not committed. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_uncommitted(struct tern_object *object,
                                                     const char *procedure, const char *argument,
                                                     const struct tern_datatype *datatype);
/* Refuses a buffer of more bytes than 63 bits can count. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_length(struct tern_object *object, const char *procedure,
                                                const char *argument, MPI_Count count,
                                                const struct tern_datatype *datatype);
/* Refuses the element at `index` of an array of counts, whose buffer has more bytes than 63 bits
 * can count. `types` or `datatype` is NULL. */
TERN_ENTRY_REFUSAL int
tern_entry_refuse_length_at(struct tern_object *object, const char *procedure, const char *argument,
                            struct tern_ints counts, const MPI_Datatype types[],
                            const struct tern_datatype *datatype, int64_t index);
/* Refuses the element at `index` of an array of datatypes. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_type(struct tern_object *object, const char *procedure,
                                              const char *argument, const MPI_Datatype types[],
                                              int64_t index);
/* Refuses the element at `index` of an array of requests. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_request(struct tern_object *object, const char *procedure,
                                                 const char *argument, const MPI_Request requests[],
                                                 int64_t index);
/* Refuses a value that is not one of `allowed`, a text. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_choice(struct tern_object *object, const char *procedure,
                                                int code, const char *argument, int value,
                                                const char *allowed);
/* Refuses a string that is NULL, or whose length is not `least` to `most`. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_string(struct tern_object *object, const char *procedure,
                                                int code, const char *argument, const char *string,
                                                int least, int most);
/* Refuses a result that does not fit the caller's variable. */
TERN_ENTRY_REFUSAL int tern_entry_refuse_result(struct tern_object *object, const char *procedure,
                                                const char *argument, MPI_Count value);

/* Returns true if the string is NULL, or if its length is less than `least` or more than `most`. */
static inline bool tern_entry_bad_string(const char *string, size_t least, size_t most)
{
    if (!string)
        return true;
    size_t length = strnlen(string, most + 1);
    return length < least || length > most;
}

#endif
