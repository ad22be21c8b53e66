/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pml/lane.h"

#include "lib/pml/pml.h"
#include "lib/util/atomic.h"

#include <time.h>

struct tern_lane tern_lanes[TERN_LANES_MAX];

/* When MPI was started, by both clocks. */
static struct {
    uint64_t ticks, ns;
} start;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void tern_lanes_init(void)
{
    tern_lane_count = 1;
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        struct tern_lane *lane = &tern_lanes[i];
        lane->index = i;
        tern_list_init(&lane->early);
        tern_list_init(&lane->parked);
        tern_list_init(&lane->waiting_peers);
        tern_list_init(&lane->runs);
    }
    start.ticks = tern_ticks();
    start.ns = now_ns();
}

/* The unit of ticks is the machine's: measured since the start. */
uint64_t tern_lane_ns_of(uint64_t ticks)
{
    uint64_t passed = tern_ticks() - start.ticks;
    return passed ? (uint64_t)((double)ticks * (double)(now_ns() - start.ns) / (double)passed) : 0;
}

void tern_counters_read(struct tern_counters *ret_counters)
{
    struct tern_counters sum = {0};
    uint64_t blocked_ticks = 0;
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        const struct tern_lane *lane = &tern_lanes[i];
        const struct tern_lane_counters *counters = &lane->counters;
        tern_peer_add_traffic(i, NULL, &sum.traffic);
        sum.unexpected_messages += counters->unexpected_messages;
        sum.unexpected_length += lane->unexpected.items;
        if (counters->unexpected_longest > sum.unexpected_longest)
            sum.unexpected_longest = counters->unexpected_longest;
        sum.posted_length += lane->posted.items;
        sum.sleeps += counters->sleeps;
        sum.contended_locks += counters->contended_locks;
        blocked_ticks += counters->blocked_ticks;
    }
    sum.blocked_ns = tern_lane_ns_of(blocked_ticks);
    *ret_counters = sum;
}

void tern_counters_read_btl(const struct tern_btl *btl, struct tern_traffic *ret_traffic)
{
    struct tern_traffic sum = {0};
    for (uint32_t i = 0; i < tern_lane_count; i++)
        tern_peer_add_traffic(i, btl, &sum);
    *ret_traffic = sum;
}
