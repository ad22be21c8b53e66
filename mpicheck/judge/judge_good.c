/* SPDX-License-Identifier: BSD-3-Clause */

/* What is well, in a line for each thing that was measured. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpicheck/judge/findings.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/data/medians.h"
#include "mpicheck/judge/model.h"

static void good(const struct tern_mc_data *data, struct tern_mc_findings *findings, const char *id,
                 const char *who, char *what)
{
    struct tern_mc_finding *finding =
        tern_mc_find(findings, data, TERN_MC_GOOD, id, NULL, 0, what, NULL);
    free(finding->who);
    finding->who = tern_mc_format("%s", who);
}

static int hosts_here(const struct tern_mc_data *data)
{
    int count = 0;
    for (int i = 0; i < data->count; i++)
        count += !data->hosts[i].gone;
    return count;
}

static const char *first_fact(const struct tern_mc_data *data, const char *key)
{
    for (int i = 0; i < data->count; i++) {
        const char *value = tern_mc_fact(&data->hosts[i], key);
        if (value)
            return value;
    }
    return NULL;
}

static bool differs(const struct tern_mc_data *data, const char *key)
{
    const char *first = first_fact(data, key);
    for (int i = 0; first && i < data->count; i++) {
        const char *value = tern_mc_fact(&data->hosts[i], key);
        if (!data->hosts[i].gone && (!value || strcmp(value, first)))
            return true;
    }
    return false;
}

static void say_versions(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    const char *mpi = first_fact(data, "mpi"), *kernel = first_fact(data, "kernel");
    if (!mpi || differs(data, "mpi"))
        return;
    bool alike = kernel && !differs(data, "kernel");
    int here = hosts_here(data);
    good(data, findings, "ok.versions", "versions",
         tern_mc_format("%.*s%s%s on %s%d host%s", (int)strcspn(mpi, ","), mpi,
                        alike ? ", kernel " : "", alike ? kernel : "", here > 1 ? "all " : "", here,
                        here > 1 ? "s" : ""));
}

/* The interface of most connections, with its address and MTU on the first host that uses it. */
static void say_path(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        if (host->socket_count == 0)
            continue;
        const struct tern_mc_socket *socket = &host->sockets[0];
        char *key = tern_mc_format("nic.%s.mtu", socket->nic);
        const char *mtu = tern_mc_fact(host, key);
        good(data, findings, "ok.path", "path",
             tern_mc_format("tcp %s %s -> %s, MTU %s; the report has every host's", socket->nic,
                            socket->own, socket->other, mtu ? mtu : "?"));
        free(key);
        return;
    }
}

struct extent {
    double median, worst;
    int from, to, count;
};

/* Finds median and worst value of the pairs of hosts that are here; the largest is the worst if
 * `large_is_bad`. */
static struct extent extent_of(const struct tern_mc_data *data, const float *values,
                               bool large_is_bad)
{
    size_t pairs = (size_t)data->count * (size_t)data->count;
    double *copied = tern_mc_alloc((long)pairs, sizeof *copied);
    struct extent extent = {0};
    for (size_t i = 0; i < pairs; i++) {
        double value = (double)values[i];
        int from = (int)(i / (size_t)data->count), to = (int)(i % (size_t)data->count);
        if (value <= 0 || data->hosts[from].gone || data->hosts[to].gone)
            continue;
        if (extent.count == 0 || (large_is_bad ? value > extent.worst : value < extent.worst)) {
            extent.worst = value;
            extent.from = from;
            extent.to = to;
        }
        copied[extent.count++] = value;
    }
    extent.median = tern_mc_median(copied, extent.count);
    free(copied);
    return extent;
}

static void say_pairs(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    struct extent bandwidth = extent_of(data, data->bandwidth, false);
    struct extent latency = extent_of(data, data->least, true);
    int hosts = hosts_here(data);
    if (bandwidth.count == 0)
        return;
    good(data, findings, "ok.pairs", "pairs",
         tern_mc_format("%d of %d: %.1f us (worst %.1f %s, %s), %.2f GB/s (worst %.2f %s -> %s)%s",
                        latency.count / 2, hosts * (hosts - 1) / 2, latency.median, latency.worst,
                        data->hosts[latency.from].name, data->hosts[latency.to].name,
                        bandwidth.median / 1000, bandwidth.worst / 1000,
                        data->hosts[bandwidth.from].name, data->hosts[bandwidth.to].name,
                        data->wrong_blocks ? "" : ", data right"));
}

static void say_nodes(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    double least = 0, most = 0, memory_least = 0, memory_most = 0, pause = 0;
    int cores = 0, hosts = 0, cores_least = 0, cores_most = 0;
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        if (!host->has_node)
            continue;
        for (int k = 0; k < host->core_count; k++) {
            double work = host->cores[k].work_us;
            least = cores == 0 || work < least ? work : least;
            most = work > most ? work : most;
            cores++;
        }
        cores_least = hosts == 0 || host->core_count < cores_least ? host->core_count : cores_least;
        cores_most = host->core_count > cores_most ? host->core_count : cores_most;
        memory_least = hosts == 0 || host->memory_gbs < memory_least ? host->memory_gbs
                                                                     : memory_least;
        memory_most = host->memory_gbs > memory_most ? host->memory_gbs : memory_most;
        pause = host->pause_ms > pause ? host->pause_ms : pause;
        hosts++;
    }
    if (cores == 0)
        return;
    char *each = cores_least == cores_most ? tern_mc_format("%d", cores_most)
                                           : tern_mc_format("%d to %d", cores_least, cores_most);
    good(data, findings, "ok.nodes", "nodes",
         tern_mc_format("%d host%s: %s processors, alike within %.0f %%; memory %.1f to %.1f GB/s; "
                        "longest pause %.1f ms", hosts, hosts > 1 ? "s" : "", each,
                        100 * (most / least - 1), memory_least, memory_most, pause));
    free(each);
}

static void say_clocks(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    double *values = tern_mc_alloc(data->count, sizeof *values), most = 0, error = 0;
    int count = 0;
    for (int i = 0; i < data->count; i++)
        if (data->hosts[i].has_clock) {
            values[count++] = data->hosts[i].clock_s;
            error = data->hosts[i].clock_error_s > error ? data->hosts[i].clock_error_s : error;
        }
    double median = tern_mc_median(values, count);
    for (int i = 0; i < count; i++)
        most = fabs(values[i] - median) > most ? fabs(values[i] - median) : most;
    free(values);
    if (count > 1)
        good(data, findings, "ok.clocks", "clocks",
             tern_mc_format("%d hosts within %.3f ms (+- %.3f ms)", count, most * 1e3,
                        error * 1e3));
}

static void say_together(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    int last = 0;
    for (int i = 1; i < data->count; i++)
        if (data->hosts[i].last > data->hosts[last].last)
            last = i;
    if (data->allreduce_us == 0)
        return;
    good(data, findings, "ok.together", "together",
         tern_mc_format("bisection %.2f GB/s (least %.2f), allreduce of 8 B %.1f us (%s came last "
                        "in %.0f %%), alltoall %.2f GB/s per host", data->bisection / 1000,
                        data->bisection_worst / 1000, data->allreduce_us, data->hosts[last].name,
                        100 * data->hosts[last].last, data->alltoall / 1000));
}

/* The figures stand in model.conf beside the report. */
static void say_model(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    struct tern_mc_model model;
    if (tern_mc_model_of(data, findings, &model))
        good(data, findings, "ok.model", "collectives",
             tern_mc_format("coll_network_latency %ld ns, coll_network_gap %ld ps/byte in "
                            "model.conf: mpirun --mca coll_model_file chooses by them",
                            model.latency_ns, model.gap));
}

/* InfiniBand: its facts are compared, its speed is that of the messages. GPUs: their copies. */
static void say_devices(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    int fabrics = 0, gpus = 0, facts = 0;
    for (int i = 0; i < data->count; i++) {
        const char *gpu = tern_mc_fact(&data->hosts[i], "gpus");
        bool fabric = false;
        for (int k = 0; k < data->hosts[i].fact_count; k++)
            fabric |= strncmp(data->hosts[i].facts[k].key, "ib.", 3) == 0;
        fabrics += fabric;
        gpus += gpu && atoi(gpu) > 0;
        facts += gpu != NULL;
    }
    if (facts == 0)
        return;
    double most, least = tern_mc_gpu_range(data, &most);
    char *rates = least > 0 ? tern_mc_format(", copies to them at %.1f to %.1f GB/s", least, most)
                            : tern_mc_format("%s", "");
    char *some = fabrics + gpus == 0
                     ? tern_mc_format("no host has InfiniBand or a GPU: nothing to compare")
                     : tern_mc_format("InfiniBand on %d hosts, GPUs on %d%s", fabrics, gpus, rates);
    free(rates);
    good(data, findings, "ok.devices", "devices", some);
}

static void say_phases(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    for (int i = 0; i < data->phase_count; i++)
        if (strncmp(data->phases[i].result, "skipped", 7) == 0)
            good(data, findings, "ok.skipped", data->phases[i].name,
                 tern_mc_format("%s", data->phases[i].result));
}

void tern_mc_judge_good(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    say_versions(data, findings);
    say_path(data, findings);
    say_nodes(data, findings);
    say_clocks(data, findings);
    say_pairs(data, findings);
    say_together(data, findings);
    say_model(data, findings);
    say_devices(data, findings);
    say_phases(data, findings);
}
