/* SPDX-License-Identifier: BSD-3-Clause */

/* Hosts by themselves: who is missing, whose processors are slow or throttled, whose clock is
 * wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mpicheck/judge/findings.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/judge/judge_facts.h"
#include "mpicheck/data/medians.h"

/* Limits beyond which a host is named. Equal processors differ by some percent with their
 * temperature; other processes and a hypervisor take more, so what is slow is measured again. */
static const double slow_core = 1.33, low_memory = 0.6, enough_share = 0.85, clock_limit_s = 0.01;
static const double pause_limit_ms = 5; /* a host that stands still for longer is not idle */
enum { THROTTLED_MS = 10, LIKE_MOST = 3 };

/* ---- processors ---- */

static double median_work(const struct tern_mc_data *data)
{
    int count = 0, cores = 0;
    for (int i = 0; i < data->count; i++)
        cores += data->hosts[i].core_count;
    double *values = tern_mc_alloc(cores, sizeof *values);
    for (int i = 0; i < data->count; i++)
        for (int k = 0; k < data->hosts[i].core_count; k++)
            values[count++] = data->hosts[i].cores[k].work_us;
    double median = tern_mc_median(values, count);
    free(values);
    return median;
}

static double median_memory(const struct tern_mc_data *data)
{
    int count = 0;
    double *values = tern_mc_alloc(data->count, sizeof *values);
    for (int i = 0; i < data->count; i++)
        if (data->hosts[i].has_node)
            values[count++] = data->hosts[i].memory_gbs;
    double median = tern_mc_median(values, count);
    free(values);
    return median;
}

/* Returns which part of its processors' time a host had. */
static double share_of(const struct tern_mc_host *host)
{
    double sum = 0;
    for (int i = 0; i < host->core_count; i++)
        sum += host->cores[i].share;
    return host->core_count ? sum / host->core_count : 1;
}

/* Returns true if others, also those behind a hypervisor, took so much time from a host that its
 * figures say little. */
static bool is_disturbed(const struct tern_mc_host *host)
{
    return share_of(host) < enough_share || host->pause_ms > pause_limit_ms;
}

static int count_slow(const struct tern_mc_host *host, double median)
{
    int count = 0;
    for (int i = 0; i < host->core_count; i++)
        count += host->cores[i].work_us > slow_core * median;
    return count;
}

static bool has_low_memory(const struct tern_mc_data *data, const struct tern_mc_host *host,
                           double median)
{
    return data->count > 2 && host->has_node && host->memory_gbs < low_memory * median;
}

int tern_mc_slow_hosts(const struct tern_mc_data *data, int *ret_hosts)
{
    double work = median_work(data), memory = median_memory(data);
    int count = 0;
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        if (host->core_count && (share_of(host) < enough_share || count_slow(host, work) > 0 ||
                                 has_low_memory(data, host, memory)))
            ret_hosts[count++] = i;
    }
    return count;
}

static bool is_throttled(const struct tern_mc_host *host)
{
    return host->throttled_ms > THROTTLED_MS && share_of(host) < enough_share;
}

static void judge_throttled(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        if (!is_throttled(host))
            continue;
        const char *quota = tern_mc_fact(host, "cpu.quota");
        char *limit = quota ? tern_mc_format("its group may use %s of %d processors", quota,
                                             host->core_count)
                            : tern_mc_format("a quota of its group");
        struct tern_mc_finding *finding = tern_mc_find(
            findings, data, TERN_MC_FAIL, "node.quota", &i, 1,
            tern_mc_format("the system stopped the test for %.0f ms: %s; it had %.0f %% of them",
                           host->throttled_ms, limit, 100 * share_of(host)),
            tern_mc_format("cat /sys/fs/cgroup/cpu.max (on %s), or its batch system's limits",
                           host->name));
        finding->value = share_of(host);
        finding->expected = 1;
        free(limit);
    }
}

/* Names hosts by a note that they could not be measured. Takes ownership of the text. */
static void note_hosts(const struct tern_mc_data *data, struct tern_mc_findings *findings,
                       const int *hosts, int count, char *what, double value, double expected)
{
    struct tern_mc_finding *finding =
        tern_mc_find(findings, data, TERN_MC_NOTE, "node.busy", hosts, count, what,
                     tern_mc_format("top (on %s); then mpicheck again", data->hosts[*hosts].name));
    finding->value = value;
    finding->expected = expected;
}

/* Hosts that were too busy are named together: often all are. */
static void judge_busy(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    int *busy = tern_mc_alloc(data->count, sizeof *busy), busy_count = 0;
    int *paused = tern_mc_alloc(data->count, sizeof *paused), paused_count = 0;
    double least = 1, longest = 0, work = median_work(data), memory = median_memory(data);
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        double share = share_of(host);
        if (!host->core_count || is_throttled(host))
            continue;
        if (share < enough_share) {
            busy[busy_count++] = i;
            least = share < least ? share : least;
        } else if (is_disturbed(host) &&
                   (has_low_memory(data, host, memory) || count_slow(host, work) > 0)) {
            paused[paused_count++] = i;
            longest = host->pause_ms > longest ? host->pause_ms : longest;
        }
    }
    if (busy_count > 0) {
        const struct tern_mc_host *first = &data->hosts[busy[0]];
        const char *load = tern_mc_fact(first, "now.load");
        note_hosts(data, findings, busy, busy_count,
                   tern_mc_format("too busy to be measured: others use %s%.0f %% of %d processors "
                                  "(load %.*s%s%s)", busy_count > 1 ? "up to " : "",
                                  100 * (1 - least), first->core_count,
                                  load ? (int)strcspn(load, " ") : 1, load ? load : "?",
                                  busy_count > 1 ? " on " : "", busy_count > 1 ? first->name : ""),
                   least, 1);
    }
    if (paused_count > 0)
        note_hosts(data, findings, paused, paused_count,
                   tern_mc_format("slow, but could not be measured: stood still for %s%.0f ms; "
                                  "another program, or a hypervisor?",
                                  paused_count > 1 ? "up to " : "", longest),
                   longest, pause_limit_ms);
    free(busy);
    free(paused);
}

/* A phase that did not come to its end. */
static void judge_phases(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    for (int i = 0; i < data->phase_count; i++) {
        const struct tern_mc_phase *phase = &data->phases[i];
        if (strncmp(phase->result, "failed: ", 8))
            continue;
        struct tern_mc_finding *finding =
            tern_mc_find(findings, data, TERN_MC_NOTE, "phase.failed", NULL, 0,
                         tern_mc_format("not measured: %s", phase->result + 8), NULL);
        free(finding->who);
        finding->who = tern_mc_format("%s", phase->name);
    }
}

static void judge_cores(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    double median = median_work(data);
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        int slow = count_slow(host, median), worst = 0;
        if (slow == 0 || is_throttled(host) || is_disturbed(host))
            continue;
        for (int k = 1; k < host->core_count; k++)
            if (host->cores[k].work_us > host->cores[worst].work_us)
                worst = k;
        double speed = median / host->cores[worst].work_us;
        char *which = slow == 1 ? tern_mc_format("processor %d works", host->cores[worst].cpu)
                                : tern_mc_format("%d of %d processors work", slow,
                                                 host->core_count);
        struct tern_mc_finding *finding = tern_mc_find(
            findings, data, TERN_MC_FAIL, "node.slow", &i, 1,
            tern_mc_format("%s at %.0f %% of the speed of the others; also alone", which,
                           100 * speed),
            tern_mc_format("turbostat or cpupower frequency-info (on %s): clock and temperature",
                           host->name));
        finding->value = speed;
        finding->expected = 1;
        free(which);
    }
}

static void judge_memory(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    double median = median_memory(data);
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        if (!has_low_memory(data, host, median) || is_disturbed(host))
            continue;
        struct tern_mc_finding *finding = tern_mc_find(
            findings, data, TERN_MC_WARN, "node.memory", &i, 1,
            tern_mc_format("memory %.1f GB/s, others %.1f; also alone", host->memory_gbs, median),
            tern_mc_format("dmidecode -t memory (on %s): a module missing or slow?", host->name));
        finding->value = host->memory_gbs;
        finding->expected = median;
    }
}

/* ---- clocks ---- */

static double median_clock(const struct tern_mc_data *data)
{
    int count = 0;
    double *values = tern_mc_alloc(data->count, sizeof *values);
    for (int i = 0; i < data->count; i++)
        if (data->hosts[i].has_clock)
            values[count++] = data->hosts[i].clock_s;
    double median = tern_mc_median(values, count);
    free(values);
    return median;
}

/* With two clocks it cannot be said which one is wrong: then the first counts as right. */
static void judge_clocks(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    double median = data->count > 2 ? median_clock(data) : data->hosts[0].clock_s;
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_host *host = &data->hosts[i];
        double offset = host->clock_s - median;
        if (!host->has_clock || fabs(offset) < clock_limit_s ||
            fabs(offset) < 20 * host->clock_error_s)
            continue;
        struct tern_mc_finding *finding = tern_mc_find(
            findings, data, TERN_MC_WARN, "clock.offset", &i, 1,
            tern_mc_format("its clock is %.3f s %s that of %s (+- %.6f s)", fabs(offset),
                           offset > 0 ? "ahead of" : "behind",
                           data->count > 2 ? "most hosts" : data->hosts[0].name,
                           host->clock_error_s),
            tern_mc_format("chronyc tracking (on %s)", host->name));
        finding->value = offset;
    }
}

/* ---- hosts that are missing, or stand twice ---- */

/* Names the hosts where the interface under check does not work. If most lack it, that is how they
 * are made. */
static void judge_lacking(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    int *hosts = tern_mc_alloc(data->count, sizeof *hosts), count = 0;
    for (int i = 0; i < data->count; i++)
        if (data->hosts[i].lacks)
            hosts[count++] = i;
    const struct tern_mc_host *first = &data->hosts[count ? hosts[0] : 0];
    if (count > 0)
        tern_mc_find(findings, data, 2 * count > data->count ? TERN_MC_WARN : TERN_MC_FAIL,
                     "nic.missing", hosts, count,
                     tern_mc_format("left out: %s%s", count > 1 ? "the first: " : "", first->gone),
                     tern_mc_format("ip address show %s (on %s): link, cable, driver",
                                    first->lacks, first->name));
    free(hosts);
}

/* Returns the command that shows why a host is missing. */
static char *ask_gone(const struct tern_mc_host *host)
{
    static const char *const unknown_name[] = {"Could not resolve", "Name or service not known",
                                               "name resolution"};
    for (size_t i = 0; i < sizeof unknown_name / sizeof *unknown_name; i++)
        if (strstr(host->gone, unknown_name[i]))
            return tern_mc_format("getent hosts %s", host->name);
    return tern_mc_format("ssh %s true", host->name);
}

/* Hosts that are missing for the same reason come together if they are many. */
static void judge_gone(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    int *hosts = tern_mc_alloc(data->count, sizeof *hosts), count = 0;
    for (int i = 0; i < data->count; i++)
        if (data->hosts[i].gone && !data->hosts[i].lacks)
            hosts[count++] = i;
    for (int i = 0; i < count && i < LIKE_MOST; i++) {
        bool rest = i == LIKE_MOST - 1 && count > LIKE_MOST;
        tern_mc_find(findings, data, TERN_MC_FAIL, "host.gone", hosts + i, rest ? count - i : 1,
                     tern_mc_format("left out: %s%s", rest ? "no answer; the first: " : "",
                                    data->hosts[hosts[i]].gone),
                     ask_gone(&data->hosts[hosts[i]]));
    }
    free(hosts);
    for (int i = 0; i < data->count; i++)
        if (!data->hosts[i].gone && data->hosts[i].unmeasured)
            tern_mc_find(findings, data, TERN_MC_NOTE, "host.unmeasured", &i, 1,
                         tern_mc_format("%s", data->hosts[i].unmeasured), NULL);
}

static void judge_twins(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    for (int i = 0; i < data->count; i++) {
        const char *own = tern_mc_fact(&data->hosts[i], "hostname");
        for (int k = i + 1; own && k < data->count; k++) {
            const char *other = tern_mc_fact(&data->hosts[k], "hostname");
            if (!other || strcmp(own, other) || strchr(data->hosts[i].name, '/'))
                continue;
            int both[] = {i, k};
            tern_mc_find(findings, data, TERN_MC_FAIL, "host.twice", both, 2,
                         tern_mc_format("both names lead to a host that calls itself %s", own),
                         tern_mc_format("getent hosts %s %s; arping -D", data->hosts[i].name,
                                        data->hosts[k].name));
        }
    }
}

void tern_mc_judge_hosts(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    judge_gone(data, findings);
    judge_lacking(data, findings);
    judge_twins(data, findings);
    judge_throttled(data, findings);
    judge_cores(data, findings);
    judge_busy(data, findings);
    judge_memory(data, findings);
    judge_clocks(data, findings);
    judge_phases(data, findings);
    tern_mc_judge_facts(data, findings);
}
