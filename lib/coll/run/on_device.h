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

/* Returns true if all buffers of this rank are in device memory, and sets *ret_device to the number
 * of the device, -1 if there are no buffers. Asks the driver. */
bool tern_run_is_on_device(const struct tern_call *call, int *ret_device);

/*
 * The agreement (device_agreement.c). A question is an allreduce of one int, the least of all
 * ranks' answers, by messages.
 *
 * The first question of a communicator is whether all ranks may have device memory at all. Then
 * each long call asks whether all ranks' buffers are in device memory. A persistent call asks only
 * that, when it is started for the first time. The answer is one of TERN_ANSWER_*.
 */

enum {
    TERN_ANSWER_NO,
    TERN_ANSWER_YES,
    TERN_ANSWER_TOLD, /* yes, and the rank has told where its GPU is (device_places.h) */
};

/* Sets call->args.on_device if all ranks' buffers are in device memory. For a blocking call. Costs
 * one short allreduce if all ranks may have device memory. */
void tern_run_agree(struct tern_call *call);
static inline bool tern_run_is_long(const struct tern_call *call)
{
    return TERN_UNLIKELY(call->args.recv_count * call->args.recv_size >= TERN_DEVICES_WORTH);
}

/* Begins the agreement of a nonblocking or persistent run, which has its tag and a plan for host
 * memory. Returns true if the run must not begin before tern_run_has_agreed says so. A rank that
 * cannot have device memory knows the answer, and need not wait. */
bool tern_run_begin_agreement(struct tern_plan_run *run);
/* Returns true when the ranks have agreed. The run has a plan for devices then, if all said yes.
 * Ask only if tern_run_begin_agreement has returned true. */
bool tern_run_has_agreed(struct tern_plan_run *run);
/* Returns true if nothing of the agreement is under way: before that the run must not complete. */
bool tern_run_agreement_is_over(struct tern_plan_run *run);
/* Ends an agreement in vain, because the run will not happen. */
void tern_run_abandon_agreement(struct tern_plan_run *run);

/* Copies the input of a call to the host and lets the run use the copy, unless its plan is one for
 * devices. Does nothing for buffers in host memory. If there is no memory, the run uses the buffers
 * themselves. Call when places are set. */
void tern_run_stage(struct tern_plan_run *run);
/* Copies the output back, and frees the copy. `run->error` tells if that failed. */
void tern_run_unstage(struct tern_plan_run *run);

#endif
