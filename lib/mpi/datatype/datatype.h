/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DATATYPE_H
#define TERN_DATATYPE_H

/*
 * MPI datatypes (MPI-4.1 chapter 5): the object around a flat type.
 *
 * A datatype lives as long as it has references: the user's handles, active requests, the datatypes
 * made from it. What it moves (type.program) is shared with them by count, so nobody walks from
 * object to object to pack; the references to old types serve MPI_Type_get_contents and
 * MPI_Get_elements.
 */

#include "lib/type/type.h"
#include "lib/util/handle.h"

#include <mpi.h>

struct tern_attrs;
struct tern_envelope; /* how it was made: combiner, integers, addresses, datatypes
                         (datatype_envelope.h) */

/* What check_level full has found out about a datatype. Zero: nothing yet. Any thread may fill it
 * in: all find the same. */
struct tern_findings {
    uint64_t sum, power; /* the signature (lib/mpi/check/check_signature.c); power 0: not known */
    /* this many elements, and fewer, have no byte twice (lib/mpi/check/check_buffers.c) */
    int64_t disjoint;
};

struct tern_datatype {
    struct tern_object obj;
    struct tern_type type;
    bool predefined;
    int handles; /* of obj.refs, those that MPI_Type_free gives back; 0: freed by the user */
    struct tern_envelope *envelope;   /* NULL: MPI_COMBINER_NAMED */
    struct tern_attrs *attrs;         /* NULL: none set */
    struct tern_datatype *next_freed; /* while it is being freed */
    struct tern_findings findings;
    char name[MPI_MAX_OBJECT_NAME];
};

static inline struct tern_datatype *tern_datatype_of(MPI_Datatype datatype)
{
    return ((struct tern_handle *)datatype)->state;
}

/* The handle a user holds. */
static inline MPI_Datatype tern_datatype_handle(const struct tern_datatype *datatype)
{
    return (MPI_Datatype)datatype->obj.handle;
}

void tern_datatype_retain(struct tern_datatype *datatype);
/* Drops a reference; the last one frees (predefined ones are never freed). No callbacks run:
 * attributes went with the user's last handle. */
void tern_datatype_release(struct tern_datatype *datatype);

/* A fresh, uncommitted, unnamed derived type of nothing, with one handle; NULL: no memory. */
struct tern_datatype *tern_datatype_new(void);

#endif
