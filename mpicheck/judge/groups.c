/* SPDX-License-Identifier: BSD-3-Clause */

/* A pair is as fast as its slower direction. If that divides the hosts badly, it is as fast as the
 * geometric mean of both: one bad sample does not make it slow. The pairs are divided where the
 * variance between slow and fast ones is largest; then each group grows from a host: it takes
 * whoever is fast with most of its members. Single samples lie, so a few others may contradict. */
#include "mpicheck/judge/groups.h"

#include <math.h>
#include <stdlib.h>

#include "mpicheck/data/fold.h"
#include "mpicheck/data/medians.h"

enum { HOSTS_LEAST = 4, SINGLES_MOST = 8 };
static const double most_part = 0.8;     /* of a host's pairs, or of all, that must agree */
static const double clear_ratio = 0.5;   /* of the bandwidth inside: no group is the usual one */
static const double usual_ratio = 0.75;  /* if most hosts are in one group */

/* How pairs are looked at: by their slower direction, or by the mean of both. */
struct look {
    const struct tern_mc_data *data;
    bool mean;
};

/* Returns what is typical of a pair; 0: a direction was not measured. */
static float typical(const struct look *look, int a, int b)
{
    const struct tern_mc_data *data = look->data;
    size_t n = (size_t)data->count;
    float there = data->bandwidth[(size_t)a * n + (size_t)b],
          back = data->bandwidth[(size_t)b * n + (size_t)a];
    return look->mean ? sqrtf(there * back) : there < back ? there : back;
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Returns the logarithms of all pairs that were measured, sorted. The caller frees them. */
static float *sorted_pairs(const struct look *look, long *ret_count)
{
    long pairs = (long)look->data->count * (look->data->count - 1) / 2, count = 0;
    float *values = tern_mc_alloc(pairs, sizeof *values);
    for (int a = 0; a < look->data->count; a++)
        for (int b = a + 1; b < look->data->count; b++)
            if (typical(look, a, b) > 0)
                values[count++] = logf(typical(look, a, b));
    qsort(values, (size_t)count, sizeof *values, compare);
    *ret_count = count;
    return values;
}

/* Divides sorted values so that the variance between both parts is largest (N. Otsu, 1979).
 * Returns the number of the lower ones. */
static long divide(const float *values, long count)
{
    double all = 0, below = 0, most = -1;
    long best = 0;
    for (long i = 0; i < count; i++)
        all += (double)values[i];
    for (long i = 1; i < count; i++) {
        below += (double)values[i - 1];
        double apart = (all - below) / (double)(count - i) - below / (double)i;
        double between = apart * apart * (double)i * (double)(count - i);
        if (between > most) {
            most = between;
            best = i;
        }
    }
    return best;
}

/* Returns true if a host is fast with most members of a group with which it was measured. */
static bool fits(const struct look *look, const int *members, int count, int host,
                 float limit)
{
    int fast = 0, all = 0;
    for (int i = 0; i < count; i++) {
        float value = members[i] == host ? 0 : typical(look, members[i], host);
        all += value > 0;
        fast += value > limit;
    }
    return fast > 0 && fast >= most_part * all;
}

/* Grows a group from a host that is in none. `members` has room for all hosts. Returns the number
 * of members; 1: nobody belongs to it. */
static int grow(const struct look *look, const int *of, int seed, float limit,
                int *members)
{
    int count = 1, before;
    bool *taken = tern_mc_alloc(look->data->count, sizeof *taken);
    members[0] = seed;
    taken[seed] = true;
    do {
        before = count;
        for (int host = 0; host < look->data->count; host++)
            if (of[host] == TERN_MC_SINGLE && !taken[host] &&
                fits(look, members, count, host, limit)) {
                members[count++] = host;
                taken[host] = true;
            }
    } while (count > before);
    /* who came first was compared with few */
    for (int i = count - 1; i >= 0; i--)
        if (!fits(look, members, count, members[i], limit))
            members[i] = members[--count];
    free(taken);
    return count;
}

static void grow_all(const struct look *look, float limit, struct tern_mc_groups *groups)
{
    int *members = tern_mc_alloc(look->data->count, sizeof *members);
    for (int host = 0; host < look->data->count; host++) {
        if (groups->of[host] != TERN_MC_SINGLE)
            continue;
        int count = grow(look, groups->of, host, limit, members);
        if (count < 2)
            continue;
        for (int i = 0; i < count; i++)
            groups->of[members[i]] = groups->count;
        groups->sizes[groups->count] = count;
        if (count > groups->sizes[groups->largest])
            groups->largest = groups->count;
        groups->count++;
    }
    free(members);
}

/* Returns true if most pairs inside the groups are fast, and most others slow. Writes what is
 * typical of both. */
static bool is_clear(const struct look *look, float limit, struct tern_mc_groups *groups)
{
    long pairs = (long)look->data->count * (look->data->count - 1) / 2;
    double *values = tern_mc_alloc(pairs, sizeof *values);
    int inside = 0, across = 0, fast = 0, slow = 0;
    for (int a = 0; a < look->data->count; a++)
        for (int b = a + 1; b < look->data->count; b++) {
            float value = typical(look, a, b);
            if (value == 0)
                continue;
            if (tern_mc_groups_joins(groups, a, b)) {
                values[inside++] = (double)value;
                fast += value > limit;
            } else {
                values[pairs - ++across] = (double)value;
                slow += value <= limit;
            }
        }
    groups->inside = tern_mc_median(values, inside);
    groups->across = tern_mc_median(values + pairs - across, across);
    free(values);
    return inside > 0 && across > 0 && fast >= most_part * inside && slow >= most_part * across;
}

static enum tern_mc_kinds kinds_of(const struct tern_mc_groups *groups)
{
    int grouped = 0;
    for (int i = 0; i < groups->count; i++)
        grouped += groups->sizes[i];
    int singles = groups->hosts - grouped;
    double ratio = tern_mc_groups_main(groups) >= 0 ? usual_ratio : clear_ratio;
    if (groups->across > ratio * groups->inside)
        return TERN_MC_ALIKE;
    if (groups->count > 1 && 4 * singles <= groups->hosts)
        return TERN_MC_SPLIT;
    /* a few slow hosts are found one by one; a few fast ones are no fault of the others */
    bool many = singles > SINGLES_MOST || 2 * singles >= groups->hosts;
    return groups->count == 1 && many && 4 * grouped >= groups->hosts ? TERN_MC_UNLIKE
                                                                       : TERN_MC_ALIKE;
}

/* Divides the hosts into groups by one look at the pairs. */
static void find_by(const struct look *look, struct tern_mc_groups *groups)
{
    long count;
    int hosts = look->data->count;
    float *values = sorted_pairs(look, &count);
    *groups = (struct tern_mc_groups){.of = groups->of, .sizes = groups->sizes};
    for (int a = 0; a < hosts; a++) {
        groups->of[a] = TERN_MC_UNKNOWN;
        for (int b = 0; b < hosts && groups->of[a] == TERN_MC_UNKNOWN; b++)
            if (a != b && typical(look, a, b) > 0)
                groups->of[a] = TERN_MC_SINGLE;
        groups->hosts += groups->of[a] == TERN_MC_SINGLE;
    }
    long slow = divide(values, count);
    if (groups->hosts >= HOSTS_LEAST && slow > 0) {
        float limit = expf(values[slow - 1]) * 1.0001f; /* the largest of the slow ones is slow */
        grow_all(look, limit, groups);
        if (groups->count > 0 && is_clear(look, limit, groups))
            groups->kinds = kinds_of(groups);
    }
    free(values);
}

void tern_mc_groups_find(const struct tern_mc_data *data, struct tern_mc_groups *ret_groups)
{
    *ret_groups = (struct tern_mc_groups){.of = tern_mc_alloc(data->count, sizeof(int)),
                                          .sizes = tern_mc_alloc(data->count, sizeof(int))};
    const struct look slower = {data, false}, mean = {data, true};
    find_by(&slower, ret_groups);
    if (ret_groups->kinds == TERN_MC_SPLIT)
        return;
    bool found = ret_groups->kinds != TERN_MC_ALIKE;
    find_by(&mean, ret_groups);
    if (ret_groups->kinds != TERN_MC_SPLIT && found)
        find_by(&slower, ret_groups);
}

void tern_mc_groups_free(struct tern_mc_groups *groups)
{
    free(groups->of);
    free(groups->sizes);
}

int tern_mc_groups_members(const struct tern_mc_groups *groups, int hosts, int group,
                           int *ret_members)
{
    int count = 0;
    for (int i = 0; i < hosts; i++)
        if (groups->of[i] == group)
            ret_members[count++] = i;
    return count;
}
