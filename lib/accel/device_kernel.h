/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_KERNEL_H
#define TERN_DEVICE_KERNEL_H

/*
 * Kernels: packing and reducing on the device. The driver compiles a kernel when it is first used
 * in a context, which takes some tens of milliseconds; later uses cost what a copy costs. Where it
 * cannot, this is logged once, and the callers do the work otherwise.
 */

#include "lib/accel/accel.h"
#include "lib/accel/device_pinned.h"
#include "lib/accel/ptx.h"

/* Runs of `run` bytes in nested loops: counts[0] times at strides[0] bytes, all that counts[1]
 * times at strides[1], and so on. */
struct tern_accel_nest {
    int loops; /* 1 to TERN_PTX_LOOPS */
    int64_t run;
    int64_t counts[TERN_PTX_LOOPS], strides[TERN_PTX_LOOPS];
};

/* Starts to pack `bytes` bytes, beginning with byte `first` of the packed stream, from the nest at
 * `base` to `packed`, or to unpack them, as a part of `batch`. Both are in device memory, or in
 * pinned memory of ours. Returns 0, or TERN_ERR_UNSUPPORTED: nothing was started. */
int tern_accel_start_move(struct tern_accel_batch *batch, const struct tern_accel_nest *nest,
                          void *base, void *packed, int64_t first, int64_t bytes, bool pack);

enum { TERN_ACCEL_RUNS = TERN_ACCEL_PINNED / sizeof(struct tern_ptx_run) };

/* Returns the memory of a batch for a list of TERN_ACCEL_RUNS runs, which stays until its work has
 * ended; NULL: there is none. `place`: where the batch runs. */
struct tern_ptx_run *tern_accel_list(struct tern_accel_batch *batch,
                                     const struct tern_accel_place *place);
/* A list of runs. */
struct tern_accel_runs {
    struct tern_ptx_run *list; /* where kernels read it: pinned memory of ours, or the device */
    int count;       /* 1 or more, of at least one byte */
    uint64_t bytes;  /* of all runs */
    uint64_t places; /* all addresses, lengths and places, joined by or */
};
/* Returns the first `count` runs of a list that the processor reads. */
struct tern_accel_runs tern_accel_runs_of(struct tern_ptx_run *list, int count);
/* Starts to pack the runs to `packed`, or to unpack them, as a part of `batch`. Returns 0, or
 * TERN_ERR_UNSUPPORTED: nothing was started. */
int tern_accel_start_runs(struct tern_accel_batch *batch, const struct tern_accel_runs *runs,
                          void *packed, bool pack);

/* Starts inout[i] = in[i] op inout[i] for `count` elements, both in device memory, as a part of
 * `batch`. Returns likewise. */
int tern_accel_start_reduce(struct tern_accel_batch *batch, enum tern_ptx_op op,
                            enum tern_ptx_number number, const void *in, void *inout,
                            int64_t count);

/* Gives back the kernels of a context, which is current. For tern_accel_leave only. */
void tern_accel_kernels_leave(const void *context);

#endif
