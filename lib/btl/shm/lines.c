/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "lib/btl/shm/lines.h"

#include "lib/btl/shm/ring.h"
#include "lib/node/doorbell.h"
#include "lib/settings/figures.h"
#include "lib/util/machine/copy_pages.h"

#include <string.h>
#include <unistd.h>

/* WORTH: long messages after which a rank is thought to receive many more. MOST_US: includes the
 * time until a peer that waits on its processor lets the helper run. */
enum { WORTH = 16, MOST_US = 8000 };

enum { NOT_MEASURED, BEING_MEASURED, MEASURED };

/* In the node's memory. */
struct node_lines {
    uint32_t state; /* stored last */
    struct tern_line_costs costs;
};
_Static_assert(sizeof(struct node_lines) <= TERN_SEGMENT_LINES_BYTES, "has room");

static struct tern_line_costs figures;
const struct tern_line_costs *tern_lines_now = &figures;
static uint32_t counted; /* long messages; more than WORTH: the costs are known */

static void use(const struct tern_line_costs *costs)
{
    /* release: pairs with tern_lines */
    __atomic_store_n(&tern_lines_now, costs, __ATOMIC_RELEASE);
    __atomic_store_n(&tern_ring_prepared_most, costs->prepared, __ATOMIC_RELAXED);
    /* a gain of less than a tenth is noise */
    tern_copy_pages_use(costs->turns < costs->take - costs->take / 10);
}

void tern_lines_init(void)
{
    bool stored = tern_figure_given("shm_again_gap") || tern_figure_given("shm_take_gap") ||
                  tern_figure_given("shm_turns_gap") || tern_figure_given("shm_prepared");
    figures = (struct tern_line_costs){.again = (uint32_t)tern_figure("shm_again_gap"),
                                       .take = (uint32_t)tern_figure("shm_take_gap"),
                                       .turns = (uint32_t)tern_figure("shm_turns_gap"),
                                       .prepared = (uint32_t)tern_figure("shm_prepared")};
    use(&figures);
    counted = stored ? WORTH + 1 : 0;
}

void tern_lines_finalize(void)
{
    use(&figures);
    tern_line_costs_end();
}

static void measure(struct node_lines *node, const struct tern_segment_rank *peer)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    memcpy(&cpus, peer->cpus, sizeof peer->cpus);
    node->costs = figures; /* unless all can be measured */
    if ((long)tern_segment.local_size <= sysconf(_SC_NPROCESSORS_ONLN))
        tern_line_costs_measure(&cpus, MOST_US, &node->costs);
    /* release: a rank that sees the state sees the costs */
    tern_store_release(&node->state, MEASURED);
}

void tern_lines_count(const struct tern_segment_rank *peer)
{
    struct node_lines *node = (struct node_lines *)(tern_segment.base + TERN_SEGMENT_LINES_AT);
    uint32_t count = __atomic_load_n(&counted, __ATOMIC_RELAXED), seen = NOT_MEASURED;
    if (TERN_LIKELY(count > WORTH))
        return;
    if (count < WORTH) { /* threads that count at the same time may count once */
        __atomic_store_n(&counted, count + 1, __ATOMIC_RELAXED);
        return;
    }
    if (!__atomic_load_n(&tern_doorbell_contended, __ATOMIC_RELAXED) &&
        __atomic_compare_exchange_n(&node->state, &seen, BEING_MEASURED, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        measure(node, peer);
    if (tern_load_acquire(&node->state) == MEASURED) {
        use(&node->costs);
        __atomic_store_n(&counted, WORTH + 1, __ATOMIC_RELAXED);
    }
}
