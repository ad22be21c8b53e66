/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LINE_COSTS_H
#define TERN_LINE_COSTS_H

/*
 * Measures what it costs that two cores use the same lines of memory in turn. Processors differ in
 * that by more than in anything else within a node, and nothing but a measurement tells.
 */

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Lengths up to which the lines of the next payload may be asked for: where asking gains, and
 * elsewhere. Longer payloads are written around our cache. */
enum { TERN_PREPARED_MOST = 4096, TERN_PREPARED_SAFE = 1024 };

/* The costs, in ps a byte. */
struct tern_line_costs {
    uint32_t again;    /* additional, to write where another core has read since the last write */
    uint32_t take;     /* to copy from where another core has written, by memcpy */
    uint32_t turns;    /* the same by pages in turn (copy_pages.h) */
    uint32_t prepared; /* bytes: one of the two lengths above */
};

/* Measures between this thread's processor and another one of `cpus`, where a thread helps. Takes
 * one or two ms, and `most_us` at most. Returns false if there is no other processor, no thread or
 * no memory, or if the time is over. */
bool tern_line_costs_measure(const cpu_set_t *cpus, uint32_t most_us,
                             struct tern_line_costs *ret_costs);

/* Waits for the thread of a measurement that took too long. */
void tern_line_costs_end(void);

#endif
