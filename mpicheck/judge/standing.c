/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/judge/standing.h"

#include <stdlib.h>
#include <string.h>

#include "mpicheck/data/fold.h"
#include "mpicheck/data/medians.h"

static const double enough_part = 0.5; /* of the pairs that most hosts have */

/* Returns the result of a phase that was tried, or NULL. */
static const char *tried(const struct tern_mc_data *data, const char *name)
{
    const char *result = NULL;
    for (int i = 0; i < data->phase_count; i++)
        if (strcmp(data->phases[i].name, name) == 0)
            result = data->phases[i].result;
    return result && strncmp(result, "skipped", 7) ? result : NULL;
}

/* Counts the directions in which a host was measured. */
static int count_pairs(const struct tern_mc_data *data, int host)
{
    size_t n = (size_t)data->count, own = (size_t)host;
    int count = 0;
    for (size_t peer = 0; peer < n; peer++)
        count += (data->bandwidth[own * n + peer] > 0) + (data->bandwidth[peer * n + own] > 0);
    return count;
}

/* Returns how many directions of a host must be measured; 0: the network was not tried. */
static double pairs_wanted(const struct tern_mc_data *data)
{
    double *counts = tern_mc_alloc(data->count, sizeof *counts);
    int hosts = 0;
    for (int i = 0; i < data->count; i++) {
        int pairs = count_pairs(data, i);
        if (pairs > 0)
            counts[hosts++] = pairs;
    }
    double wanted = enough_part * tern_mc_median(counts, hosts);
    free(counts);
    return hosts == 0 && tried(data, "reach") ? 1 : wanted;
}

/* Marks the hosts that were not measured, or not in all phases that were tried. */
static void find_unmeasured(const struct tern_mc_result *result, bool *open)
{
    const struct tern_mc_data *data = result->data;
    const char *last = tried(data, "alone");
    bool ended = !result->interrupted || (last && strcmp(last, "interrupted"));
    bool node = tried(data, "node"), facts = tried(data, "facts");
    double pairs = pairs_wanted(data);
    for (int i = 0; i < data->count; i++) {
        node |= data->hosts[i].has_node;
        facts |= data->hosts[i].fact_count > 0;
    }
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        open[i] = !ended || host->gone || host->unmeasured || (facts && host->fact_count == 0) ||
                  (node && !host->has_node) || count_pairs(data, i) < pairs;
    }
}

static void mark(const int *hosts, int count, bool *marks)
{
    for (int i = 0; i < count; i++)
        marks[hosts[i]] = true;
}

int tern_mc_hosts_of(const struct tern_mc_result *result, enum tern_mc_standing standing,
                     int *ret_hosts)
{
    const struct tern_mc_data *data = result->data;
    bool *bad = tern_mc_alloc(data->count, sizeof *bad);
    bool *open = tern_mc_alloc(data->count, sizeof *open);
    int count = 0;
    find_unmeasured(result, open);
    for (int i = 0; i < result->findings->count; i++) {
        const struct tern_mc_finding *finding = &result->findings->items[i];
        bool *marks = finding->severity >= TERN_MC_FAIL    ? bad
                      : finding->severity == TERN_MC_NOTE ? open
                                                           : NULL;
        if (!marks)
            continue;
        mark(finding->hosts, finding->host_count, marks);
        mark(finding->peers, finding->peer_count, marks);
    }
    for (int i = 0; i < data->count; i++) {
        enum tern_mc_standing own = bad[i]    ? TERN_MC_STANDS_BAD
                                    : open[i] ? TERN_MC_STANDS_OPEN
                                              : TERN_MC_STANDS_GOOD;
        if (own == standing)
            ret_hosts[count++] = i;
    }
    free(bad);
    free(open);
    return count;
}
