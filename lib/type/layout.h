/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LAYOUT_H
#define TERN_LAYOUT_H

/*
 * Makes types from types (MPI-4.1 section 5.1). Each function fills *ret_type, which is not
 * committed. The old types may be freed before the new one. Returns 0, TERN_ERR_NO_MEM, or
 * TERN_ERR_ARG if sizes or bounds do not fit 63 bits; on failure *ret_type is not written. Owner:
 * the new type holds a reference to its program, which tern_type_drop gives back. Counts must be >=
 * 0; the caller has checked that.
 *
 * The displacements of a list are multiplied by `unit` bytes: 1, or the extent of the old type.
 */

#include "lib/type/type.h"
#include "lib/util/base/ints.h"

/* Makes `count` blocks of `blocklength` elements, `stride` bytes from one block to the next. For
 * MPI_Type_contiguous `count` is 1, or `blocklength` is 1. */
int tern_type_make_vector(const struct tern_type *old, int64_t count, int64_t blocklength,
                          int64_t stride, struct tern_type *ret_type);
/* Makes blocks of one length at the given displacements. */
int tern_type_make_blocks(const struct tern_type *old, int64_t count, int64_t blocklength,
                          struct tern_ints displacements, int64_t unit, struct tern_type *ret_type);
/* Makes blocks of different lengths at the given displacements. */
int tern_type_make_indexed(const struct tern_type *old, int64_t count,
                           struct tern_ints blocklengths, struct tern_ints displacements,
                           int64_t unit, struct tern_type *ret_type);
/* Makes blocks of different types: types[i] is the type of block i. Displacements are in bytes. */
int tern_type_make_struct(const struct tern_type *const types[], int64_t count,
                          struct tern_ints blocklengths, struct tern_ints displacements,
                          struct tern_type *ret_type);
/* Makes a box of an array. If `fortran`, the first dimension varies fastest. The caller has checked
 * starts[i] + subsizes[i] <= sizes[i]. */
int tern_type_make_subarray(const struct tern_type *old, int dims, struct tern_ints sizes,
                            struct tern_ints subsizes, struct tern_ints starts, bool fortran,
                            struct tern_type *ret_type);
/* How the `size` indices of one dimension are dealt out among `processes`: in blocks of `block`
 * indices, round-robin. We are the process at `coordinate`, 0 to processes - 1. */
struct tern_deal {
    int64_t size, block, processes, coordinate;
};
/* Makes this process's part of a distributed array (MPI_Type_create_darray). */
int tern_type_make_distributed(const struct tern_type *old, int dims,
                               const struct tern_deal deals[], bool fortran,
                               struct tern_type *ret_type);
/* Makes `old` with other bounds; `lb` and `extent` are in bytes. */
int tern_type_make_resized(const struct tern_type *old, int64_t lb, int64_t extent,
                           struct tern_type *ret_type);
/* Makes a copy of a type, committed if `old` is. */
void tern_type_make_dup(const struct tern_type *old, struct tern_type *ret_type);

/* Gives the reference to the program back. The type must not be used afterwards. */
void tern_type_drop(struct tern_type *type);

#endif
