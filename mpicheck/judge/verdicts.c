/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/judge/verdicts.h"

#include <stdlib.h>

#include "mpicheck/data/fold.h"
#include "mpicheck/data/interfaces.h"

static const double slow_ratio = 0.75;  /* of the good pairs' bandwidth */
static const double sure_ratio = 0.33;  /* slow even if the two lacked processors */
static const double least_share = 0.1;  /* of a processor that is allowed for */
static const double enough_share = 0.8; /* else a sample says little */

static size_t at(const struct tern_mc_data *data, int a, int b)
{
    return (size_t)a * (size_t)data->count + (size_t)b;
}

double tern_mc_best_of(const float *values, int count)
{
    double best = 0;
    for (int i = 0; i < count; i++)
        best = (double)values[i] > best ? (double)values[i] : best;
    return best;
}

double tern_mc_least_of(const float *values, int count)
{
    double least = 0;
    for (int i = 0; i < count; i++)
        least = i == 0 || (double)values[i] < least ? (double)values[i] : least;
    return least;
}

double tern_mc_median_of(const float *values, int count)
{
    double copied[TERN_MC_SAMPLES_MOST];
    for (int i = 0; i < count; i++)
        copied[i] = (double)values[i];
    return tern_mc_median(copied, count);
}

/* Returns true if a pair is good, or at least inside of a group: others are compared with it. */
static bool is_reference(const struct tern_mc_speed *speed, const struct tern_mc_alone *alone)
{
    if (speed->groups.kinds != TERN_MC_ALIKE &&
        tern_mc_groups_joins(&speed->groups, alone->from, alone->to))
        return true;
    for (int i = speed->suspects; i < speed->count; i++)
        if (tern_mc_is_pair(speed->pairs[i], alone->from, alone->to))
            return true;
    return false;
}

/* Finds what good pairs reach alone: the median of their medians. */
static void find_usual(struct tern_mc_verdicts *verdicts)
{
    const struct tern_mc_speed *speed = verdicts->speed;
    const struct tern_mc_data *data = speed->data;
    double *bandwidths = tern_mc_alloc(data->alone_count, sizeof *bandwidths);
    double *latencies = tern_mc_alloc(data->alone_count, sizeof *latencies);
    int count = 0;
    /* if all pairs are suspicious, they are compared with each other */
    for (int all = 0; all <= (speed->suspects == speed->count) && count == 0; all++)
        for (int i = 0; i < data->alone_count; i++) {
            const struct tern_mc_alone *alone = &data->alone[i];
            if (alone->count == 0 || (!all && !is_reference(speed, alone)))
                continue;
            latencies[count] = tern_mc_least_of(alone->latency, alone->latency_count);
            bandwidths[count++] = tern_mc_median_of(alone->bandwidth, alone->count);
        }
    verdicts->usual = tern_mc_median(bandwidths, count);
    verdicts->usual_latency = tern_mc_median(latencies, count);
    free(bandwidths);
    free(latencies);
}

/* Finds by which interfaces the pairs go that were measured alone. The caller frees the result. */
static uint32_t *find_routes(const struct tern_mc_data *data)
{
    uint32_t *routes = tern_mc_alloc(data->alone_count, sizeof *routes);
    struct tern_mc_nics nics;
    tern_mc_nics_find(data, &nics);
    for (int i = 0; i < data->alone_count; i++)
        routes[i] = tern_mc_route(data, &nics, data->alone[i].from, data->alone[i].to);
    return routes;
}

double tern_mc_usual_of(const struct tern_mc_verdicts *verdicts, int from, int to)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    uint32_t route = verdicts->routes[tern_mc_alone_of(data, from, to) - data->alone];
    double *good = tern_mc_alloc(data->alone_count, sizeof *good), usual = verdicts->usual;
    double *all = tern_mc_alloc(data->alone_count, sizeof *all);
    int good_count = 0, count = 0;
    bool from_in_all = true, to_in_all = true;
    for (int i = 0; i < data->alone_count; i++) {
        const struct tern_mc_alone *alone = &data->alone[i];
        if (alone->count == 0 || verdicts->routes[i] != route)
            continue;
        from_in_all &= alone->from == from || alone->to == from;
        to_in_all &= alone->from == to || alone->to == to;
        all[count++] = tern_mc_median_of(alone->bandwidth, alone->count);
        if (is_reference(verdicts->speed, alone))
            good[good_count++] = all[count - 1];
    }
    if (!from_in_all && !to_in_all)
        usual = good_count ? tern_mc_median(good, good_count) : tern_mc_median(all, count);
    free(good);
    free(all);
    return usual;
}

/* Returns what the best sample would have reached at most, had both ends had a processor all the
 * time. */
static double best_allowing(const struct tern_mc_alone *alone)
{
    double best = 0;
    for (int i = 0; i < alone->count; i++) {
        double share = (double)alone->share[i] < least_share ? least_share
                                                             : (double)alone->share[i];
        double allowing = (double)alone->bandwidth[i] / share;
        best = allowing > best ? allowing : best;
    }
    return best;
}

static enum tern_mc_verdict judge(const struct tern_mc_verdicts *verdicts,
                                  const struct tern_mc_alone *alone)
{
    const struct tern_mc_expected *expected = verdicts->speed->expected;
    double best = tern_mc_best_of(alone->bandwidth, alone->count);
    double usual = tern_mc_usual_of(verdicts, alone->from, alone->to), want = slow_ratio * usual;
    double asked = tern_mc_speed_wanted(verdicts->speed, alone->from, alone->to);
    /* what the user asks for, or had before, counts beside what the others have now */
    if ((expected->bandwidth > 0 || expected->baseline) && asked > want)
        want = asked;
    if (alone->count == 0)
        return TERN_MC_UNTESTED;
    if (best >= want)
        return TERN_MC_FINE;
    if (alone->count < TERN_MC_SAMPLES_LEAST)
        return TERN_MC_BUSY;
    if (best_allowing(alone) < sure_ratio * usual)
        return TERN_MC_SLOW;
    return tern_mc_median_of(alone->share, alone->count) < enough_share ? TERN_MC_BUSY
                                                                        : TERN_MC_SLOW;
}

static void judge_all(struct tern_mc_verdicts *verdicts)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    for (int i = 0; i < data->alone_count; i++) {
        const struct tern_mc_alone *alone = &data->alone[i];
        verdicts->of[at(data, alone->from, alone->to)] = (uint8_t)judge(verdicts, alone);
    }
}

double tern_mc_tested(const struct tern_mc_data *data, int from, int to)
{
    const struct tern_mc_alone *alone = tern_mc_alone_of(data, from, to);
    return alone ? tern_mc_best_of(alone->bandwidth, alone->count) : 0;
}

char *tern_mc_tell_rate(double mbps)
{
    return mbps >= 1000 ? tern_mc_format("%.2f GB/s", mbps / 1000)
                        : tern_mc_format("%.1f MB/s", mbps);
}

void tern_mc_verdicts_make(const struct tern_mc_speed *speed, struct tern_mc_findings *findings,
                           struct tern_mc_verdicts *ret_verdicts)
{
    long hosts = speed->data->count;
    *ret_verdicts = (struct tern_mc_verdicts){.speed = speed,
                                              .findings = findings,
                                              .of = tern_mc_alloc(hosts * hosts, 1),
                                              .lossy = tern_mc_alloc(hosts, sizeof(bool)),
                                              .routes = find_routes(speed->data)};
    find_usual(ret_verdicts);
    judge_all(ret_verdicts);
}

void tern_mc_verdicts_free(struct tern_mc_verdicts *verdicts)
{
    free(verdicts->routes);
    free(verdicts->lossy);
    free(verdicts->of);
}
