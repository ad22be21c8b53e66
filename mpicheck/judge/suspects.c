/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/judge/suspects.h"

#include <math.h>
#include <stdlib.h>

#include "mpicheck/data/fold.h"

enum { PARTNERS = 3, REFERENCES = 3, ACROSS = 10 };
static const double slow_ratio = 0.75; /* of the others' bandwidth: suspicious */
static const double late_ratio = 1.6, late_us = 5;

static size_t at(const struct tern_mc_data *data, int a, int b)
{
    return (size_t)a * (size_t)data->count + (size_t)b;
}

static double median_latency(const struct tern_mc_data *data)
{
    size_t pairs = (size_t)data->count * (size_t)data->count;
    double *values = tern_mc_alloc((long)pairs, sizeof *values);
    int count = 0;
    for (size_t i = 0; i < pairs; i++)
        if (data->least[i] > 0)
            values[count++] = (double)data->least[i];
    double median = tern_mc_median(values, count);
    free(values);
    return median;
}

double tern_mc_speed_before(const struct tern_mc_speed *speed, int from, int to)
{
    if (speed->before.pairs == 0)
        return 0;
    double measured = (double)speed->expected->baseline->bandwidth[at(speed->data, from, to)];
    double usual = tern_mc_fit_value(&speed->before, from, to);
    return measured < usual ? measured : usual;
}

double tern_mc_speed_wanted(const struct tern_mc_speed *speed, int from, int to)
{
    double usual = exp(speed->fit.all), want = slow_ratio * usual;
    double before = slow_ratio * tern_mc_speed_before(speed, from, to);
    if (speed->expected->bandwidth > want)
        want = speed->expected->bandwidth;
    return before > want ? before : want;
}

double tern_mc_late(double usual)
{
    double limit = late_ratio * usual;
    return limit < usual + late_us ? usual + late_us : limit;
}

static double latency_limit(const struct tern_mc_speed *speed)
{
    double limit = tern_mc_late(speed->latency);
    if (speed->expected->latency_us > 0 && speed->expected->latency_us < limit)
        limit = speed->expected->latency_us;
    return limit;
}

bool tern_mc_looks_slow(const struct tern_mc_speed *speed, int from, int to)
{
    double bandwidth = (double)speed->data->bandwidth[at(speed->data, from, to)];
    return bandwidth > 0 && bandwidth < tern_mc_speed_wanted(speed, from, to);
}

static bool looks_late(const struct tern_mc_speed *speed, int a, int b)
{
    return (double)speed->data->least[at(speed->data, a, b)] > latency_limit(speed);
}

/* Returns true if groups explain why a pair is slow. A single host beside several groups is no
 * group: it has a fault of its own. */
static bool is_across(const struct tern_mc_groups *groups, int a, int b)
{
    bool single = groups->of[a] < 0 || groups->of[b] < 0;
    return groups->kinds == TERN_MC_SPLIT    ? !single && !tern_mc_groups_joins(groups, a, b)
           : groups->kinds == TERN_MC_UNLIKE ? !tern_mc_groups_joins(groups, a, b)
                                             : false;
}

/* Returns true if a slow pair is slower than its hosts explain. */
static bool is_odd_pair(const struct tern_mc_speed *speed, int from, int to)
{
    double bandwidth = (double)speed->data->bandwidth[at(speed->data, from, to)];
    return tern_mc_looks_slow(speed, from, to) &&
           (tern_mc_fit_rest(&speed->fit, from, to, bandwidth) < log(slow_ratio) ||
            !(speed->sends[from] || speed->receives[to]));
}

static void add_pair(struct tern_mc_speed *speed, int a, int b)
{
    for (int i = 0; i < speed->count; i++)
        if (tern_mc_is_pair(speed->pairs[i], a, b))
            return;
    if (speed->count >= speed->most || a == b || !tern_mc_linked(speed->data, a, b) ||
        speed->data->bandwidth[at(speed->data, a, b)] == 0)
        return;
    speed->pairs[speed->count][0] = a;
    speed->pairs[speed->count++][1] = b;
}

static bool is_suspicious(const struct tern_mc_speed *speed, int host)
{
    return speed->sends[host] || speed->receives[host];
}

/* Adds pairs of a host with some others, beginning behind the host itself, so that not all have the
 * same partner: first with those that are not suspicious. On a busy machine many are, and one pair
 * alone does not tell which of its hosts is to blame. */
static void add_partners(struct tern_mc_speed *speed, int host, int partners)
{
    int added = 0, hosts = speed->data->count;
    for (int suspicious = 0; suspicious < 2; suspicious++)
        for (int step = 1; step < hosts && added < partners; step++) {
            int peer = (host + step) % hosts, before = speed->count;
            if (is_suspicious(speed, peer) == suspicious)
                add_pair(speed, host, peer);
            added += speed->count > before;
        }
}

/* Adds good pairs to compare with; if there are none, the fastest. */
static void add_references(struct tern_mc_speed *speed)
{
    int hosts = speed->data->count, wanted_count = speed->count + REFERENCES, best[2] = {-1, -1};
    double most = 0;
    speed->most += REFERENCES;
    for (int step = 1; step < hosts; step++)
        for (int a = 0; a < hosts; a++) {
            int b = (a + step) % hosts;
            double bandwidth = (double)speed->data->bandwidth[at(speed->data, a, b)];
            if (bandwidth > most) {
                most = bandwidth;
                best[0] = a;
                best[1] = b;
            }
            if (speed->count < wanted_count && !is_suspicious(speed, a) &&
                !is_suspicious(speed, b) && !tern_mc_looks_slow(speed, a, b) &&
                !tern_mc_looks_slow(speed, b, a))
                add_pair(speed, a, b);
        }
    if (speed->count == speed->suspects && best[0] >= 0)
        add_pair(speed, best[0], best[1]);
}

static void mark_hosts(struct tern_mc_speed *speed)
{
    int hosts = speed->data->count;
    for (int i = 0; hosts > 2 && i < hosts; i++) {
        speed->sends[i] = speed->fit.sends[i] < log(slow_ratio);
        speed->receives[i] = speed->fit.receives[i] < log(slow_ratio);
    }
}

/* Adds pairs across the groups, with other members and other groups each time. */
static void add_across_groups(struct tern_mc_speed *speed)
{
    const struct tern_mc_groups *groups = &speed->groups;
    int hosts = speed->data->count, count = groups->count, most = speed->count + ACROSS;
    int tries = 4 * hosts; /* with --quick, few pairs were measured */
    int *members = tern_mc_alloc(hosts, sizeof *members);
    int *others = tern_mc_alloc(hosts, sizeof *others);
    for (int round = 0; tries > 0 && speed->count < most; round++)
        for (int step = 1; step <= count / 2; step++)
            for (int g = 0; g < count && speed->count < most && tries-- > 0; g++) {
                int have = tern_mc_groups_members(groups, hosts, g, members);
                int theirs = tern_mc_groups_members(groups, hosts, (g + step) % count, others);
                add_pair(speed, members[round % have], others[(round + step) % theirs]);
            }
    free(members);
    free(others);
}

/* Adds pairs of slow hosts, which are in no group, with members of the one group. */
static void add_across_singles(struct tern_mc_speed *speed)
{
    int hosts = speed->data->count, most = speed->count + ACROSS;
    int *members = tern_mc_alloc(hosts, sizeof *members);
    int *singles = tern_mc_alloc(hosts, sizeof *singles);
    int have = tern_mc_groups_members(&speed->groups, hosts, 0, members);
    int count = tern_mc_groups_members(&speed->groups, hosts, TERN_MC_SINGLE, singles);
    for (int round = 0; round < have; round++)
        for (int i = 0; i < ACROSS && i < count && speed->count < most; i++) {
            int k = count > ACROSS ? (int)((long)i * count / ACROSS) : i; /* evenly spread */
            add_pair(speed, singles[k], members[(k + round) % have]);
        }
    free(members);
    free(singles);
}

/* Chooses suspicious pairs and, behind them, references. */
static void choose(struct tern_mc_speed *speed)
{
    int hosts = speed->data->count;
    if (speed->groups.kinds == TERN_MC_SPLIT)
        add_across_groups(speed);
    else if (speed->groups.kinds == TERN_MC_UNLIKE)
        add_across_singles(speed);
    for (int i = 0; i < hosts; i++)
        if (is_suspicious(speed, i))
            add_partners(speed, i, PARTNERS);
    for (int a = 0; a < hosts; a++)
        for (int b = 0; b < hosts; b++) {
            bool odd = a != b && (is_odd_pair(speed, a, b) || looks_late(speed, a, b));
            if (!odd || is_across(&speed->groups, a, b))
                continue;
            add_pair(speed, a, b);
            /* each end with another host: is it the pair or the host? */
            add_partners(speed, a, 1);
            add_partners(speed, b, 1);
        }
    speed->suspects = speed->count;
    if (speed->suspects > 0)
        add_references(speed);
}

/* Fits the bandwidths. What is slow across groups would hide what is usual. */
static void make_fit(const struct tern_mc_data *data, const struct tern_mc_groups *groups,
                     struct tern_mc_fit *ret_fit)
{
    int hosts = data->count;
    if (groups->kinds == TERN_MC_ALIKE) {
        tern_mc_fit_make(data->bandwidth, hosts, ret_fit);
        return;
    }
    float *inside = tern_mc_alloc((long)hosts * hosts, sizeof *inside);
    for (int a = 0; a < hosts; a++)
        for (int b = 0; b < hosts; b++)
            if (!is_across(groups, a, b))
                inside[at(data, a, b)] = data->bandwidth[at(data, a, b)];
    tern_mc_fit_make(inside, hosts, ret_fit);
    free(inside);
}

static void fit_baseline(struct tern_mc_speed *speed)
{
    const struct tern_mc_data *baseline = speed->expected->baseline;
    if (!baseline || baseline->count != speed->data->count)
        return;
    struct tern_mc_groups groups;
    tern_mc_groups_find(baseline, &groups);
    make_fit(baseline, &groups, &speed->before);
    tern_mc_groups_free(&groups);
}

void tern_mc_speed_make(const struct tern_mc_data *data, const struct tern_mc_expected *expected,
                        int (*pairs)[2], struct tern_mc_speed *ret_speed)
{
    *ret_speed = (struct tern_mc_speed){.data = data,
                            .expected = expected,
                            .latency = median_latency(data),
                            .sends = tern_mc_alloc(data->count, sizeof(bool)),
                            .receives = tern_mc_alloc(data->count, sizeof(bool)),
                            .pairs = pairs,
                            .most = TERN_MC_SUSPECTS_MOST - REFERENCES};
    tern_mc_groups_find(data, &ret_speed->groups);
    make_fit(data, &ret_speed->groups, &ret_speed->fit);
    fit_baseline(ret_speed);
    mark_hosts(ret_speed);
    choose(ret_speed);
}

void tern_mc_speed_free(struct tern_mc_speed *speed)
{
    tern_mc_groups_free(&speed->groups);
    tern_mc_fit_free(&speed->fit);
    tern_mc_fit_free(&speed->before);
    free(speed->sends);
    free(speed->receives);
}

int tern_mc_suspects(const struct tern_mc_data *data, const struct tern_mc_expected *expected,
                     int (*ret_pairs)[2])
{
    struct tern_mc_speed speed;
    tern_mc_speed_make(data, expected, ret_pairs, &speed);
    tern_mc_speed_free(&speed);
    return speed.count;
}
