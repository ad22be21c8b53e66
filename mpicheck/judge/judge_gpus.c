/* SPDX-License-Identifier: BSD-3-Clause */

/* GPUs: those of one model are compared with each other, and pairs of GPUs with the same pair on
 * other hosts, because not all pairs of a host are wired alike. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mpicheck/judge/findings.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/data/medians.h"

enum { ENOUGH = 3 }; /* fewer tell nothing about what is usual */
static const double slow_ratio = 0.75, enough_share = 0.8;

/* The figures of a GPU. */
static const struct {
    const char *copies;
    size_t offset;
} figures[] = {
    {"from the host", offsetof(struct tern_mc_gpu, to)},
    {"to the host", offsetof(struct tern_mc_gpu, from)},
    {"within its memory", offsetof(struct tern_mc_gpu, within)},
};
enum { FIGURES = sizeof figures / sizeof *figures };

static double figure_of(const struct tern_mc_gpu *gpu, int which)
{
    return *(const double *)((const char *)gpu + figures[which].offset);
}

static bool works(const struct tern_mc_gpu *gpu)
{
    return gpu->to > 0 && gpu->from > 0 && gpu->within > 0;
}

/* Returns the median of a figure of all GPUs of a model; 0 if there are too few. */
static double usual_figure(const struct tern_mc_data *data, const char *name, int which)
{
    int most = 0, count = 0;
    for (int i = 0; i < data->count; i++)
        most += data->hosts[i].gpu_count;
    double *values = tern_mc_alloc(most, sizeof *values);
    for (int i = 0; i < data->count; i++)
        for (int k = 0; k < data->hosts[i].gpu_count; k++) {
            const struct tern_mc_gpu *gpu = &data->hosts[i].gpus[k];
            if (works(gpu) && strcmp(gpu->name, name) == 0)
                values[count++] = figure_of(gpu, which);
        }
    double median = count >= ENOUGH ? tern_mc_median(values, count) : 0;
    free(values);
    return median;
}

/* Returns the figure that is the smallest part of the usual one if that is slow; else -1. */
static int slow_figure(const struct tern_mc_data *data, const struct tern_mc_gpu *gpu,
                       double *ret_usual)
{
    double least = slow_ratio;
    int slow = -1;
    for (int which = 0; which < FIGURES && works(gpu); which++) {
        double usual = usual_figure(data, gpu->name, which);
        if (usual > 0 && figure_of(gpu, which) < least * usual) {
            least = figure_of(gpu, which) / usual;
            slow = which;
            *ret_usual = usual;
        }
    }
    return slow;
}

static const struct tern_mc_gpu_pair *find_pair(const struct tern_mc_host *host, int from, int to)
{
    for (int i = 0; i < host->gpu_pair_count; i++)
        if (host->gpu_pairs[i].from == from && host->gpu_pairs[i].to == to)
            return &host->gpu_pairs[i];
    return NULL;
}

/* Returns the median of a pair over all hosts that have it; 0 if there are too few. */
static double usual_pair(const struct tern_mc_data *data, int from, int to)
{
    double *values = tern_mc_alloc(data->count, sizeof *values);
    int count = 0;
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_gpu_pair *pair = find_pair(&data->hosts[i], from, to);
        if (pair && pair->gbs > 0)
            values[count++] = pair->gbs;
    }
    double median = count >= ENOUGH ? tern_mc_median(values, count) : 0;
    free(values);
    return median;
}

static bool is_slow_pair(const struct tern_mc_data *data, const struct tern_mc_gpu_pair *pair)
{
    return pair->gbs < slow_ratio * usual_pair(data, pair->from, pair->to);
}

int tern_mc_slow_gpus(const struct tern_mc_data *data, int *ret_hosts)
{
    int count = 0;
    double usual;
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        bool slow = false;
        for (int k = 0; k < host->gpu_count; k++)
            slow |= !works(&host->gpus[k]) || slow_figure(data, &host->gpus[k], &usual) >= 0;
        for (int k = 0; k < host->gpu_pair_count; k++)
            slow |= is_slow_pair(data, &host->gpu_pairs[k]);
        if (slow)
            ret_hosts[count++] = i;
    }
    return count;
}

static void note_busy(const struct tern_mc_data *data, struct tern_mc_findings *findings, int host)
{
    if (!tern_mc_is_named(findings, NULL, host))
        tern_mc_find(findings, data, TERN_MC_NOTE, "gpu.busy", &host, 1,
                     tern_mc_format("too busy for its GPUs to be measured"),
                     tern_mc_format("top (on %s); then mpicheck again", data->hosts[host].name));
}

/* Names the GPU if it is slow. Returns true if it is not well. */
static bool judge_gpu(const struct tern_mc_data *data, struct tern_mc_findings *findings, int host,
                      const struct tern_mc_gpu *gpu)
{
    double usual = 0;
    int slow = slow_figure(data, gpu, &usual);
    if (!works(gpu)) {
        tern_mc_find(findings, data, TERN_MC_FAIL, "gpu.dead", &host, 1,
                     tern_mc_format("GPU %d (%s): the driver refuses memory or copies",
                                    gpu->number, gpu->name),
                     tern_mc_format("nvidia-smi -i %d; dmesg | grep -i xid (on %s)", gpu->number,
                                    data->hosts[host].name));
        return true;
    }
    if (slow < 0)
        return false;
    if (gpu->share < enough_share) {
        note_busy(data, findings, host);
        return true;
    }
    struct tern_mc_finding *finding = tern_mc_find(
        findings, data, TERN_MC_FAIL, "gpu.slow", &host, 1,
        tern_mc_format("GPU %d (%s): copies %s at %.1f GB/s, others at %.1f", gpu->number,
                       gpu->name, figures[slow].copies, figure_of(gpu, slow), usual),
        tern_mc_format("nvidia-smi -q -i %d -d PCIE,CLOCK,PERFORMANCE (on %s): link, clocks",
                       gpu->number, data->hosts[host].name));
    finding->value = figure_of(gpu, slow);
    finding->expected = usual;
    return true;
}

/* Names the slowest pair of a host's GPUs, and how many are slow. Pairs with a GPU that is named
 * are left out. */
static void judge_pairs(const struct tern_mc_data *data, struct tern_mc_findings *findings,
                        int host, const bool *named)
{
    const struct tern_mc_host *at = &data->hosts[host];
    const struct tern_mc_gpu_pair *worst = NULL;
    int slow = 0, count = 0;
    for (int k = 0; k < at->gpu_pair_count; k++) {
        const struct tern_mc_gpu_pair *pair = &at->gpu_pairs[k];
        count++;
        if ((pair->from < at->gpu_count && named[pair->from]) ||
            (pair->to < at->gpu_count && named[pair->to]) || !is_slow_pair(data, pair))
            continue;
        slow++;
        worst = !worst || pair->gbs < worst->gbs ? pair : worst;
    }
    if (!worst)
        return;
    if (worst->share < enough_share) {
        note_busy(data, findings, host);
        return;
    }
    double usual = usual_pair(data, worst->from, worst->to);
    struct tern_mc_finding *finding = tern_mc_find(
        findings, data, TERN_MC_FAIL, "gpu.pair", &host, 1,
        tern_mc_format("GPU %d -> GPU %d: %.1f GB/s, the same pair on other hosts %.1f%s; %d of %d "
                       "pairs are slow", worst->from, worst->to, worst->gbs, usual,
                       worst->reaches ? "" : ", through the host's memory", slow, count),
        tern_mc_format("nvidia-smi topo -m; nvidia-smi nvlink -s (on %s)", at->name));
    finding->value = worst->gbs;
    finding->expected = usual;
}

void tern_mc_judge_gpus(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        bool *named = tern_mc_alloc(host->gpu_count, sizeof *named);
        for (int k = 0; k < host->gpu_count; k++) {
            bool wrong = judge_gpu(data, findings, i, &host->gpus[k]);
            if (host->gpus[k].number < host->gpu_count)
                named[host->gpus[k].number] = wrong;
        }
        judge_pairs(data, findings, i, named);
        free(named);
    }
}

double tern_mc_gpu_range(const struct tern_mc_data *data, double *ret_most)
{
    double least = 0;
    *ret_most = 0;
    for (int i = 0; i < data->count; i++)
        for (int k = 0; k < data->hosts[i].gpu_count; k++) {
            double to = data->hosts[i].gpus[k].to;
            least = least == 0 || to < least ? to : least;
            *ret_most = to > *ret_most ? to : *ret_most;
        }
    return least;
}
