/* SPDX-License-Identifier: BSD-3-Clause */

/* What lines cost is measured between two processors, and only there: not with one alone, and not when the time is over. */
#define _GNU_SOURCE
#include "lib/util/machine/line_costs.h"
#include "lib/util/machine/copy_pages.h"
#include "require.h"

#include <stdio.h>
#include <string.h>

enum { TIMES = 7, LONG_US = 300 * 1000 * 1000 };

static int sane(const struct tern_line_costs *costs)
{
    return costs->take > 0 && costs->turns > 0 &&
           (costs->prepared == TERN_PREPARED_MOST || costs->prepared == TERN_PREPARED_SAFE);
}

int main(void)
{
    cpu_set_t all, own;
    struct tern_line_costs costs, untouched = {1, 2, 3, 4};
    REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0, "no affinity");
    /* this thread stays on one processor */
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    REQUIRE(sched_setaffinity(0, sizeof own, &own) == 0, "cannot stay on one processor");

    costs = untouched;
    REQUIRE(!tern_line_costs_measure(&own, TIMES, LONG_US, &costs), "measured with one processor"); /* no other processor */
    REQUIRE(memcmp(&costs, &untouched, sizeof costs) == 0, "wrote the costs nevertheless");
    if (CPU_COUNT(&all) < 2) {
        printf("this process may use one processor: nothing more can be measured\n");
        return 77;
    }
    for (int i = 0; i < 3; i++) /* no time: its helpers end nevertheless */
        REQUIRE(!tern_line_costs_measure(&all, TIMES, 0, &costs), "measured in no time");
    REQUIRE(memcmp(&costs, &untouched, sizeof costs) == 0, "wrote the costs nevertheless");
    for (int i = 0; i < 10; i++) {
        REQUIRE(tern_line_costs_measure(&all, TIMES, LONG_US, &costs), "not measured within minutes");
        REQUIRE(sane(&costs), "again %u, take %u, in turn %u, prepared %u", costs.again, costs.take, costs.turns, costs.prepared);
        printf("again %u, take %u, in turn %u ps a byte, prepared %u bytes\n", costs.again, costs.take, costs.turns, costs.prepared);
    }
    REQUIRE(!tern_copy_pages_gains(), "pages are copied in turn now"); /* the measurement has left it alone */
    return 0;
}
