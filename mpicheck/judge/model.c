/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/judge/model.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/settings/figure_file.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/data/medians.h"

static double median_of(const struct tern_mc_data *data, const float *values)
{
    size_t pairs = (size_t)data->count * (size_t)data->count;
    double *copied = tern_mc_alloc((long)pairs, sizeof *copied);
    int count = 0;
    for (size_t i = 0; i < pairs; i++)
        if (values[i] > 0)
            copied[count++] = (double)values[i];
    double median = tern_mc_median(copied, count);
    free(copied);
    return median;
}

static long whole(double value)
{
    return value < 1 ? 1 : (long)(value + 0.5);
}

bool tern_mc_model_of(const struct tern_mc_data *data, const struct tern_mc_findings *findings,
                      struct tern_mc_model *ret_model)
{
    double latency_us = median_of(data, data->median), mbps = median_of(data, data->bandwidth);
    const char *mpi = data->count > 0 ? tern_mc_fact(&data->hosts[0], "mpi") : NULL;
    /* made-up hosts, NAME/NUMBER, have no network between them */
    if (!mpi || strncmp(mpi, "Tern", 4) || strchr(data->hosts[0].name, '/'))
        return false;
    for (int i = 0; i < findings->count; i++)
        if (findings->items[i].severity == TERN_MC_NOTE)
            return false;
    if (!(latency_us > 0) || !(mbps > 0))
        return false;
    /* both ends' overhead is a figure of its own, which is not measured here */
    int64_t overhead = tern_figure_rows[tern_figure_index("coll_network_overhead")].preset;
    ret_model->latency_ns = whole(latency_us * 1e3 - 2.0 * (double)overhead);
    ret_model->gap = whole(1e6 / mbps);
    return true;
}

int tern_mc_model_store(const struct tern_mc_model *model, const char *path)
{
    struct tern_figure list[TERN_FIGURES_MAX];
    struct tern_figures stored;
    char own[PATH_MAX];
    int count = 0;
    if (tern_figure_file_path(own, sizeof own) == 0 &&
        tern_figure_file_read(own, true, &stored) == 0)
        for (int i = 0; tern_figure_rows[i].name; i++)
            if (stored.given[i] && strncmp(tern_figure_rows[i].name, "coll_network_", 13))
                list[count++] = (struct tern_figure){tern_figure_rows[i].name, stored.values[i]};
    list[count++] = (struct tern_figure){"coll_network_latency", model->latency_ns};
    list[count++] = (struct tern_figure){"coll_network_gap", model->gap};
    return tern_figure_file_store(path, list, count) ? -1 : 0;
}
