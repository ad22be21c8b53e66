/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_REDUCTION_H
#define TERN_REDUCTION_H

/*
 * The predefined reductions (MPI-4.1 section 6.9): every operation, on every class of basic element
 * for which it is defined.
 *
 * In three points we follow Open MPI beyond the standard's table, because programs rely on them:
 * MPI_CHAR and MPI_CHARACTER are 8-bit integers, MPI_BYTE is an unsigned 8-bit integer, and the
 * logical operations take all integers. check_level full refuses these (lib/mpi/datatype/op.c).
 * Wide characters have no reductions.
 */

#include "lib/type/type.h"

#include <stdbool.h>
#include <stdint.h>

/* Operations of the standard. */
enum tern_reduce_op {
    TERN_REDUCE_MAX,
    TERN_REDUCE_MIN,
    TERN_REDUCE_SUM,
    TERN_REDUCE_PROD,
    TERN_REDUCE_LAND,
    TERN_REDUCE_BAND,
    TERN_REDUCE_LOR,
    TERN_REDUCE_BOR,
    TERN_REDUCE_LXOR,
    TERN_REDUCE_BXOR,
    TERN_REDUCE_MAXLOC,
    TERN_REDUCE_MINLOC,
    TERN_REDUCE_REPLACE, /* inout = in; any class; one-sided communication only */
    TERN_REDUCE_NO_OP,   /* inout unchanged; any class; one-sided communication only */
    TERN_REDUCE_OPS,
    TERN_REDUCE_USER = TERN_REDUCE_OPS, /* a user's function; not handled here */
};

/* Computes inout[i] = in[i] op inout[i] for `count` basic elements. The arrays are naturally
 * aligned and do not overlap. */
typedef void tern_reduce_loop(const void *in, void *inout, int64_t count);

/* Returns the loop of a predefined operation on elements of `type`. Returns NULL if the operation
 * is not defined for the type's class, or if the type has no class. The caller must know whether
 * `type` is predefined: a derived type may have a class too, and is not refused here. */
tern_reduce_loop *tern_reduce_find(enum tern_reduce_op op, const struct tern_type *type);

/*
 * Pairs of a number and an integer index, laid out as C structures, have numbers from 0 on. Those
 * with a class of their own (TERN_BASIC_DOUBLE_INT ...) have one, too, which nobody uses.
 */
enum { TERN_REDUCE_PAIRS = 104 };

/* Returns the number of the pair of two classes, or -1 if there is none. */
int tern_reduce_pair_number(enum tern_basic value, enum tern_basic index);
/* Returns the bytes of a pair's value; sets *ret_index to the bytes of its index. */
int tern_reduce_pair_bytes(int number, int *ret_index);
/* Returns the loop of MAXLOC or MINLOC on a pair. Returns NULL for other operations. */
tern_reduce_loop *tern_reduce_find_pair(enum tern_reduce_op op, int number);

#endif
