/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DATATYPE_H
#define TERN_DATATYPE_H

/*
 * MPI datatypes (MPI-4.1 chapter 5): the object around a flat type.
 *
 * A datatype lives as long as something refers to it: the user's handles, active requests, and the
 * datatypes made from it. Datatypes share the program that moves their data (type.program) by
 * reference count, so packing never follows pointers from datatype to datatype. The references to
 * old types serve MPI_Type_get_contents and MPI_Get_elements.
 */

#include "lib/type/type.h"
#include "lib/util/base/handle.h"

#include <mpi.h>

struct tern_attrs;
/* How a datatype was made: combiner, integers, addresses and datatypes (datatype_envelope.h). */
struct tern_envelope;

/* What check_level full has found out about a datatype. All zero if nothing is known. Any thread
 * may fill it in, because all threads find the same values. */
struct tern_findings {
    uint64_t sum, power; /* the signature (lib/mpi/check/check_signature.c); power 0: not known */
    /* no two of up to this many elements overlap (lib/mpi/check/check_buffers.c) */
    int64_t disjoint;
};

/* A datatype. */
struct tern_datatype {
    struct tern_object obj;
    struct tern_type type; /* the flat type: size, extent, program */
    bool predefined;
    /* those of obj.refs that the user holds, one per handle; 0 once all are freed */
    int handles;
    struct tern_envelope *envelope;   /* NULL for MPI_COMBINER_NAMED */
    struct tern_attrs *attrs;         /* NULL if none are set */
    struct tern_datatype *next_freed; /* links datatypes while they are being freed */
    struct tern_findings findings;
    char name[MPI_MAX_OBJECT_NAME]; /* MPI_Type_set_name; empty if it has none */
};

/* Returns the datatype of a valid handle. */
static inline struct tern_datatype *tern_datatype_of(MPI_Datatype datatype)
{
    return ((struct tern_handle *)datatype)->state;
}

/* Returns the handle that the user holds. */
static inline MPI_Datatype tern_datatype_handle(const struct tern_datatype *datatype)
{
    return (MPI_Datatype)datatype->obj.handle;
}

/* Takes a reference. */
void tern_datatype_retain(struct tern_datatype *datatype);
/* Drops a reference. Dropping the last one frees the datatype, unless it is predefined. Calls no
 * callbacks: the attributes were deleted with the user's last handle. */
void tern_datatype_release(struct tern_datatype *datatype);

/* Returns the index of the first handle that is not a datatype, or -1. If `committed` is true, a
 * datatype that is not committed counts as well. Looks at each element unless the level of checks
 * is none. */
int64_t tern_datatype_find_bad(const MPI_Datatype types[], int64_t n, bool committed);

/* Makes an empty derived type: uncommitted, without a name, with one handle. Returns NULL if there
 * is no memory. */
struct tern_datatype *tern_datatype_new(void);
/* Makes a new type predefined: it is never freed, and no reference to it counts. */
void tern_datatype_keep(struct tern_datatype *datatype);

#endif
