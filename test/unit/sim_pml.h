/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_PML_H
#define SIM_PML_H

/*
 * A stand-in for lib/pml that runs all ranks of a collective in one process: every send is
 * synchronous (complete only when its receive is there), messages between two processes match in
 * order. Ranks run one after the other, as nonblocking calls that are polled, or as blocking calls
 * on stacks of their own.
 */

#include "lib/coll/run/plan_transport.h"

#include <stdbool.h>

/* One group of `size`, or two: processes 0 .. size-1 and size .. size+remote_size-1. */
struct sim {
    int size, remote_size, processes;
    struct tern_coll *colls; /* one per process; of two groups the remote one's view, `local` set */
    struct tern_coll *locals;
    const char *fault; /* what went wrong, or NULL */
};

struct sim *sim_new(int size, int remote_size);
void sim_free(struct sim *sim);

enum sim_way { SIM_POLLED, SIM_BLOCKING };

/*
 * Runs calls[p] on every process p. NULL, or what went wrong: a deadlock, a message whose length
 * its receiver did not expect, messages left over. `late` >= 0: that process starts when no other
 * can go on any more, and none may have finished then (polled only).
 */
const char *sim_run(struct sim *sim, struct tern_call *calls, enum sim_way way, int late);

#endif
