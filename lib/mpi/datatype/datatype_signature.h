/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DATATYPE_SIGNATURE_H
#define TERN_DATATYPE_SIGNATURE_H

/*
 * The signature of a datatype: its basic elements in the order of the packed stream, told in runs
 * of one class. Private to lib/mpi/datatype.
 */

#include "lib/mpi/datatype/datatype.h"

struct tern_signature_level {
    const struct tern_datatype *datatype;
    int64_t left;  /* repetitions, with the one at hand */
    int64_t block; /* of a struct: the next one of the repetition at hand */
};

/* A walk through a signature. Needs memory for structs in structs only. */
struct tern_signature {
    struct tern_signature_level *levels;
    int depth, room;
};

struct tern_signature_run {
    enum tern_basic basic;
    int64_t count; /* elements of that class: a pair is one */
};

/* Starts at the first of `count` elements of the datatype, which must outlive the walk. 0, or
 * TERN_ERR_NO_MEM. The caller ends the walk with tern_signature_drop, also after a failure. */
int tern_signature_start(struct tern_signature *signature, const struct tern_datatype *datatype,
                         int64_t count);
/* The next run; of class TERN_BASIC_NONE after the last one. 0, or TERN_ERR_NO_MEM. */
int tern_signature_next(struct tern_signature *signature, struct tern_signature_run *ret_run);
void tern_signature_drop(struct tern_signature *signature);

#endif
