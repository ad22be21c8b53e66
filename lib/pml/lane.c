/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pml/lane.h"

#include "lib/node/doorbell.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/now.h"
#include "lib/settings/param.h"

#include <time.h>

struct tern_lane tern_lanes[TERN_LANES_MAX];

/* When MPI was started, by both clocks. */
static struct {
    uint64_t ticks, ns;
} start;

int tern_lanes_init(void)
{
    tern_lane_count = 1;
    if (tern_threads)
        tern_lane_count = 1u << tern_param_choice("pml_lanes"); /* the choices are 1, 2, 4, 8 */
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        struct tern_lane *lane = &tern_lanes[i];
        lane->index = i;
        tern_list_init(&lane->early);
        tern_list_init(&lane->parked);
        tern_list_init(&lane->waiting_peers);
        tern_list_init(&lane->runs);
        tern_list_init(&lane->mailbox.letters);
        pthread_mutex_init(&lane->lock.mutex, NULL);
        pthread_mutex_init(&lane->mailbox.mutex, NULL);
    }
    start.ticks = tern_ticks();
    start.ns = tern_now_ns();
    return 0;
}

void tern_lane_tell_threads(struct tern_lane *lane)
{
    /* release: the count must be visible before the doorbell's word is read. The sleeper, after its
     * barrier, looks at the events again. */
    __atomic_fetch_add(&lane->events, 1, __ATOMIC_RELEASE);
    tern_doorbell_ring_self();
}

/* The length of a tick depends on the machine: it is measured since the start. */
uint64_t tern_lane_ns_of(uint64_t ticks)
{
    uint64_t passed = tern_ticks() - start.ticks;
    double ns = (double)(tern_now_ns() - start.ns);
    return passed ? (uint64_t)((double)ticks * ns / (double)passed) : 0;
}
