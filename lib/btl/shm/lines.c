/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "lib/btl/shm/lines.h"

#include "lib/btl/shm/ring.h"
#include "lib/node/doorbell.h"
#include "lib/settings/figures.h"
#include "lib/util/machine/copy_pages.h"
#include "lib/util/machine/line_costs.h"

#include <string.h>
#include <unistd.h>

/* WORTH: long messages after which a rank is thought to receive many more. MOST_US: includes the
 * time until a peer that waits on its processor lets the helper run. */
enum { WORTH = 16, TIMES = 7, MOST_US = 8000 };

/* In the node's memory. */
struct node_lines {
    enum { NOT_MEASURED, BEING_MEASURED, MEASURED } state; /* stored last */
    struct tern_line_costs costs;
};
_Static_assert(sizeof(struct node_lines) <= TERN_SEGMENT_LINES_BYTES, "has room");

static struct tern_line_costs figures;
static const struct tern_line_costs *lines = &figures; /* in force; atomic */
static uint32_t counted; /* long messages; more than WORTH: the costs are known */

static void use(const struct tern_line_costs *costs)
{
    __atomic_store_n(&lines, costs, __ATOMIC_RELEASE); /* other threads see them whole */
    __atomic_store_n(&tern_ring_prepared_most, costs->prepared, __ATOMIC_RELAXED);
    /* a gain of less than a tenth is noise */
    tern_copy_pages_use(costs->turns < costs->take - costs->take / 10);
}

void tern_lines_init(void)
{
    static const char *const names[] = {"shm_again_gap", "shm_take_gap", "shm_turns_gap",
                                        "shm_prepared"};
    uint32_t *const values[] = {&figures.again, &figures.take, &figures.turns, &figures.prepared};
    counted = 0;
    for (int i = 0; i < 4; i++) {
        *values[i] = (uint32_t)tern_figure(names[i]);
        if (tern_figure_given(names[i]))
            counted = WORTH + 1;
    }
    use(&figures);
}

static void measure(struct node_lines *node, const struct tern_segment_rank *peer)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    memcpy(&cpus, peer->cpus, sizeof peer->cpus);
    node->costs = figures; /* unless all can be measured */
    if ((long)tern_segment.local_size <= sysconf(_SC_NPROCESSORS_ONLN))
        tern_line_costs_measure(&cpus, TIMES, MOST_US, &node->costs);
    /* release: a rank that sees the state sees the costs */
    __atomic_store_n(&node->state, MEASURED, __ATOMIC_RELEASE);
}

void tern_lines_count(const struct tern_segment_rank *peer)
{
    struct node_lines *node = (struct node_lines *)(tern_segment.base + TERN_SEGMENT_LINES_AT);
    uint32_t count = __atomic_load_n(&counted, __ATOMIC_RELAXED), none = NOT_MEASURED;
    if (TERN_LIKELY(count > WORTH))
        return;
    if (count == WORTH && !__atomic_load_n(&tern_doorbell_contended, __ATOMIC_RELAXED) &&
        __atomic_compare_exchange_n(&node->state, &none, BEING_MEASURED, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        measure(node, peer);
    if (__atomic_load_n(&node->state, __ATOMIC_ACQUIRE) == MEASURED) {
        use(&node->costs);
        count = WORTH;
    } else if (count == WORTH) {
        return;
    }
    /* threads that count at the same time may count once */
    __atomic_store_n(&counted, count + 1, __ATOMIC_RELAXED);
}

bool tern_lines_owner_pays(void)
{
    const struct tern_line_costs *costs = __atomic_load_n(&lines, __ATOMIC_ACQUIRE);
    return costs->again > 2 * costs->take;
}

uint64_t tern_lines_paid_us(uint64_t bytes)
{
    return bytes * __atomic_load_n(&lines, __ATOMIC_ACQUIRE)->again / 1000000;
}
