/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LINE_COSTS_H
#define TERN_LINE_COSTS_H

/* Measures what it costs that two cores use the same lines of memory in turn. Processors differ in
 * that by more than in anything else within a node. */

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Lengths up to which a rank asks for the lines of its next payload: where that gains, and
 * elsewhere. Longer payloads are written around our cache. */
enum { TERN_PREPARED_MOST = 4096, TERN_PREPARED_SAFE = 1024 };

/* The costs, in ps a byte. */
struct tern_line_costs {
    uint32_t again;    /* additional, to write where another core has read since the last write */
    uint32_t take;     /* to copy from where another core has written, by memcpy */
    uint32_t turns;    /* the same by pages in turn (copy_pages.h) */
    uint32_t prepared; /* bytes: one of the two lengths above */
};

enum { TERN_LINE_COSTS_TIMES = 400 };

/* Measures between this thread's processor and another one of `cpus`, where a thread helps; up to
 * TERN_LINE_COSTS_TIMES times, half a ms each. Returns false if there is no other processor, no
 * thread or no memory, or if it takes more than `most_us`. Then it still waits until the thread has
 * had its turn. One call at a time. */
bool tern_line_costs_measure(const cpu_set_t *cpus, int times, uint32_t most_us,
                             struct tern_line_costs *ret_costs);

#endif
