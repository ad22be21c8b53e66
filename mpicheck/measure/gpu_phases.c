/* SPDX-License-Identifier: BSD-3-Clause */

/* The GPUs of each host, by themselves. */
#include <stdlib.h>

#include "mpicheck/measure/checkup.h"
#include "mpicheck/data/fold.h"

enum { TRIES = 2 };
static const double gpus_s = 120;

static int gpus_of(const struct tern_mc_host *host)
{
    const char *count = host->gone ? NULL : tern_mc_fact(host, "gpus");
    return count ? atoi(count) : 0;
}

int tern_mc_gpus_everywhere(const struct tern_mc_data *data, int *ret_without)
{
    int least = -1;
    *ret_without = -1;
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        if (host->gone || host->fact_count == 0)
            continue;
        int count = gpus_of(host);
        if (least < 0 || count < least)
            least = count;
        if (count == 0)
            *ret_without = i;
    }
    return least < 0 ? 0 : least;
}

void tern_mc_phase_gpus(struct tern_mc_check *check)
{
    int *hosts = tern_mc_alloc(check->data->count, sizeof *hosts), count = 0;
    double begin = tern_mc_now();
    bool measured = true;
    for (int i = 0; i < check->data->count; i++)
        if (gpus_of(&check->data->hosts[i]) > 0)
            hosts[count++] = i;
    if (count > 0 && check->options->fakes) {
        tern_mc_record(check, "phase gpus 0 skipped: made-up hosts share GPUs");
        count = 0;
    }
    bool any = count > 0;
    /* all at once; then again those that seem slow: another program may have used their GPUs */
    for (int try = 0; try <= TRIES && count > 0 && !tern_mc_interrupted(); try++) {
        struct tern_mc_step step = {
            .phase = "gpus", .hosts = hosts, .count = count, .limit_s = gpus_s};
        tern_mc_step_run(check, &step);
        measured &= try > 0 || step.answers == step.count;
        count = tern_mc_slow_gpus(check->data, hosts);
    }
    if (any)
        tern_mc_record(check, "phase gpus %.3f %s", tern_mc_now() - begin,
                       measured ? "done" : "failed: the test of GPUs ended without an answer");
    free(hosts);
}
