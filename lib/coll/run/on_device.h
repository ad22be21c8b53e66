/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ON_DEVICE_H
#define TERN_ON_DEVICE_H

/*
 * Collectives whose buffers are in device memory.
 *
 * A step of a plan costs a copy or a kernel, some 10 us each, and so plans for host memory, which
 * have many short steps, are slow. There are two ways around it:
 *
 *   - Short calls: this rank's buffers are copied to the host as a whole, the plan runs there, and
 *     the result is copied back. Each rank decides that by itself.
 *   - Long calls: the ranks agree that all their buffers are in device memory, and take a plan of
 *     few, long steps, priced by the figures of devices. Then nothing leaves the devices: messages
 *     go by CUDA IPC, kernels reduce.
 */

#include "lib/coll/run/plan_run.h"

enum { TERN_DEVICES_WORTH = 1 << 20 }; /* bytes from which calls are worth an agreement */

/* Sets call->args.on_device if all ranks' buffers are in device memory. For a blocking call. Costs
 * one short allreduce if all ranks may have device memory. */
void tern_run_agree(struct tern_call *call);
static inline void tern_run_agree_on_devices(struct tern_call *call)
{
    if (TERN_UNLIKELY(call->args.recv_count * call->args.recv_size >= TERN_DEVICES_WORTH))
        tern_run_agree(call);
}

/* Copies the input of a call to the host and lets the run use the copy, unless its plan is one for
 * devices. Does nothing for buffers in host memory. If there is no memory, the run uses the buffers
 * themselves. Call when places are set. */
void tern_run_stage(struct tern_plan_run *run);
/* Copies the output back, and frees the copy. `run->error` tells if that failed. */
void tern_run_unstage(struct tern_plan_run *run);

#endif
