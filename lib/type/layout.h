/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LAYOUT_H
#define TERN_LAYOUT_H

/*
 * Makes types from types (MPI-4.1 section 5.1). Each function fills *ret_type, uncommitted, with a
 * program reference that tern_type_drop gives back; the types it is made from may go before.
 * Nothing is written on failure: TERN_ERR_NO_MEM, or TERN_ERR_ARG when sizes or bounds do not fit
 * 63 bits. Counts are >= 0, checked by the caller.
 *
 * Displacements of a list are multiplied by `unit` bytes: 1, or the extent of the old type.
 */

#include "lib/type/type.h"
#include "lib/util/ints.h"

/* `count` blocks of `blocklength` elements, `stride` bytes from one to the next. Contiguous: count
 * 1, or blocklength 1. */
int tern_type_make_vector(const struct tern_type *old, int64_t count, int64_t blocklength,
                          int64_t stride, struct tern_type *ret_type);
int tern_type_make_blocks(const struct tern_type *old, int64_t count, int64_t blocklength,
                          struct tern_ints displacements, int64_t unit, struct tern_type *ret_type);
int tern_type_make_indexed(const struct tern_type *old, int64_t count,
                           struct tern_ints blocklengths, struct tern_ints displacements,
                           int64_t unit, struct tern_type *ret_type);
/* types[i] is the type of block i; displacements in bytes. */
int tern_type_make_struct(const struct tern_type *const types[], int64_t count,
                          struct tern_ints blocklengths, struct tern_ints displacements,
                          struct tern_type *ret_type);
/* A box of an array; the first dimension varies fastest when `fortran`. starts[i] + subsizes[i] <=
 * sizes[i]. */
int tern_type_make_subarray(const struct tern_type *old, int dims, struct tern_ints sizes,
                            struct tern_ints subsizes, struct tern_ints starts, bool fortran,
                            struct tern_type *ret_type);
/* How one dimension of `size` indices is dealt out: blocks of `block` indices go round among
 * `processes`; we are the one at `coordinate`. */
struct tern_deal {
    int64_t size, block, processes, coordinate;
};
int tern_type_make_distributed(const struct tern_type *old, int dims,
                               const struct tern_deal deals[], bool fortran,
                               struct tern_type *ret_type);
int tern_type_make_resized(const struct tern_type *old, int64_t lb, int64_t extent,
                           struct tern_type *ret_type);
/* The same type once more, as committed as the old one. */
void tern_type_make_dup(const struct tern_type *old, struct tern_type *ret_type);

/* Gives the program back. The type may not be used afterwards. */
void tern_type_drop(struct tern_type *type);

#endif
