/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_REDUCE_H
#define TERN_DEVICE_REDUCE_H

#include "lib/type/type.h"

/* Computes inout = in op inout for `count` elements, on the host. */
typedef void tern_host_reduce(void *state, const void *in, void *inout, int64_t count);

/* Calls `reduce` for buffers in memory of any kind. Those in device memory are copied to the host,
 * and the result back, a piece at a time. Returns 0 or TERN_ERR_*. */
int tern_device_reduce(const struct tern_type *type, const void *in, void *inout, int64_t count,
                       tern_host_reduce *reduce, void *state);

#endif
