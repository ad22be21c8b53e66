/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DATATYPE_SIGNATURE_H
#define TERN_DATATYPE_SIGNATURE_H

/*
 * The signature of a datatype: its basic elements in the order of the packed stream, as runs of
 * elements of one class. Private to lib/mpi/datatype.
 */

#include "lib/mpi/datatype/datatype.h"

/* One level of a walk: the elements of one datatype. */
struct tern_signature_level {
    const struct tern_datatype *datatype; /* the datatype of the elements */
    int64_t left; /* repetitions left, including the current one */
    int64_t block; /* for a struct: the next block of the current repetition */
};

/* A walk through a signature. Allocates memory only for structs inside structs. */
struct tern_signature {
    struct tern_signature_level *levels; /* the levels from the outermost inwards */
    int depth, room;                     /* levels in use; room for levels */
};

/* Elements of one class that follow each other. */
struct tern_signature_run {
    enum tern_basic basic;
    int64_t count; /* elements of that class; a pair counts as one */
};

/* Begins a walk at the first of `count` elements of the datatype, which must outlive the walk. The
 * caller ends the walk with tern_signature_drop, also after a failure. Returns 0 or
 * TERN_ERR_NO_MEM. */
int tern_signature_start(struct tern_signature *signature, const struct tern_datatype *datatype,
                         int64_t count);
/* Stores the next run. After the last run, stores one of class TERN_BASIC_NONE. Returns 0 or
 * TERN_ERR_NO_MEM. */
int tern_signature_next(struct tern_signature *signature, struct tern_signature_run *ret_run);
/* Ends a walk and frees its memory. */
void tern_signature_drop(struct tern_signature *signature);

#endif
