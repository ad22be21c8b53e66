/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/measure_judge.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Wide limits for the figures of any machine. A cache line takes 5 ns or more from core to core; a
 * switch by the kernel takes longer; a byte takes between a thousandth of a nanosecond and 10 ns.
 * Two measurements agree if the larger value is at most `factor` times the smaller one, or if they
 * differ by at most `slack`: a difference of two times has the errors of both. */
static const struct rule {
    const char *name, *unit, *because;
    int64_t least, most, slack;
    double factor;
} rules[] = {
    {"coll_node_latency", "ns", "a cache line takes that long from core to core", 5, 20000, 60,
     1.6},
    {"coll_node_overhead", "ns", "a message is some dozens of instructions", 3, 10000, 20, 2},
    {"coll_node_gap", "ps/byte", "cores copy no faster", 2, 10000, 15, 1.6},
    {"coll_node_rendezvous", "ns", "it is one message more and a system call", 0, 50000, 300, 1.5},
    {"coll_package_latency", "ns", "a cache line takes that long from core to core", 5, 50000, 60,
     1.6},
    {"coll_package_gap", "ps/byte", "cores copy no faster", 2, 10000, 15, 1.6},
    {"coll_machine_latency", "ns", "a cache line takes that long from core to core", 5, 50000, 60,
     1.6},
    {"coll_machine_gap", "ps/byte", "cores copy no faster", 2, 10000, 15, 1.6},
    {"coll_memory_gap", "ps/byte", "cores copy no faster", 2, 20000, 25, 1.6},
    {"coll_uncached_gap", "ps/byte", "cores copy no faster", 2, 20000, 60, 1.8},
    {"coll_board_latency", "ns", "a cache line takes that long from core to core", 5, 20000, 60,
     1.6},
    {"coll_board_overhead", "ns", "a post is some dozens of instructions", 2, 10000, 20, 2},
    {"coll_board_gap", "ps/byte", "cores copy no faster", 2, 20000, 30, 1.6},
    {"coll_reduce_gap", "ps/byte", "cores add no faster", 1, 20000, 15, 1.6},
    {"coll_copy_gap", "ps/byte", "cores copy no faster", 1, 10000, 15, 1.6},
    {"coll_switch", "ns", "the kernel takes that long for a turn", 50, 100000, 200, 1.6},
    {"coll_switch_crowded", "ns", "the kernel takes that long for a turn", 50, 200000, 500, 1.6},
    {"coll_cold", "ns", "caches are filled in that time", 0, 10000, 200, 2},
    {"coll_call", "ns", "a call is some dozens of instructions", 2, 10000, 25, 2},
    {"shm_again_gap", "ps/byte", "no cache line takes longer", 0, 20000, 400, 2},
    {"shm_take_gap", "ps/byte", "cores copy no faster", 2, 10000, 60, 1.6},
    {"shm_turns_gap", "ps/byte", "cores copy no faster", 2, 10000, 60, 1.6},
};

/* The nearer one must not be slower than the farther one, except for errors of measurement. */
static const struct order {
    const char *near, *far;
} orders[] = {
    {"coll_node_latency", "coll_package_latency"}, {"coll_package_latency", "coll_machine_latency"},
    {"coll_node_gap", "coll_package_gap"},         {"coll_package_gap", "coll_machine_gap"},
    {"coll_node_gap", "coll_memory_gap"},          {"coll_memory_gap", "coll_uncached_gap"},
    {"coll_node_latency", "coll_switch"},
};

static const struct rule *rule_of(const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL; /* is counted, not measured */
}

/* Returns the figure's value, or -1 if it is missing. */
static int64_t value_of(const struct tern_figure *figures, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(figures[i].name, name) == 0)
            return figures[i].value;
    return -1;
}

static bool differ(const struct rule *rule, int64_t a, int64_t b)
{
    int64_t less = a < b ? a : b, more = a < b ? b : a;
    return more - less > rule->slack && (double)more > rule->factor * (double)less;
}

int tern_judge_figures(const struct tern_figure *figures, int count, char *why, size_t room)
{
    for (int i = 0; i < count; i++) {
        const struct rule *rule = rule_of(figures[i].name);
        int64_t value = figures[i].value;
        if (!rule || (value >= rule->least && value <= rule->most))
            continue;
        snprintf(why, room,
                 "%s was found to be %" PRId64 " %s; expected are %" PRId64 " to %" PRId64
                 ", for %s",
                 rule->name, value, rule->unit, rule->least, rule->most, rule->because);
        return -1;
    }
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const struct rule *rule = rule_of(orders[i].near);
        int64_t near = value_of(figures, count, orders[i].near),
                far = value_of(figures, count, orders[i].far);
        if (near <= far || far < 0 || !differ(rule, near, far))
            continue;
        snprintf(why, room,
                 "%s was found to be %" PRId64
                 " %s; expected is no less than %s, which is %" PRId64,
                 orders[i].far, far, rule->unit, orders[i].near, near);
        return -1;
    }
    return 0;
}

int tern_judge_agreement(const struct tern_figure *figures, const struct tern_figure *again,
                         int count, char *why, size_t room)
{
    for (int i = 0; i < count; i++) {
        const struct rule *rule = rule_of(figures[i].name);
        int64_t first = figures[i].value, second = again[i].value;
        if (!rule || !differ(rule, first, second))
            continue;
        snprintf(why, room,
                 "%s was found to be %" PRId64 " %s, and then %" PRId64
                 "; expected is %g times the less, or %" PRId64 " %s more, at most",
                 rule->name, first, rule->unit, second, rule->factor, rule->slack, rule->unit);
        return -1;
    }
    return 0;
}
