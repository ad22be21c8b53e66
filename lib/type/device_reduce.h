/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_REDUCE_H
#define TERN_DEVICE_REDUCE_H

#include "lib/type/reduction.h"

/* Computes inout = in op inout for `count` elements, on the host. */
typedef void tern_host_reduce(void *state, const void *in, void *inout, int64_t count);

/* Calls `reduce` for buffers in memory of any kind. Those in device memory are copied to the host,
 * and the result back, a piece at a time. If `op` is a predefined operation (TERN_REDUCE_USER: it
 * is none) and `inout` is long, and in device memory, a kernel does it there. Returns 0 or
 * TERN_ERR_*. */
int tern_device_reduce(const struct tern_type *type, const void *in, void *inout, int64_t count,
                       enum tern_reduce_op op, tern_host_reduce *reduce, void *state);

#endif
