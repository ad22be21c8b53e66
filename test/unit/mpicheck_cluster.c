/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck_cluster.h"
#include "mpicheck/data/records.h"
#include "random.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>

const struct cluster healthy = {
    .hosts = 8, .noise = 0.5, .slow_sender = -1, .slow_receiver = -1, .slow_from = -1, .slow_to = -1, .late = -1, .factor = 1};

void take(struct tern_mc_data *data, const char *format, ...)
{
    char record[512];
    va_list args;
    va_start(args, format);
    vsnprintf(record, sizeof record, format, args);
    va_end(args);
    ck_assert_msg(tern_mc_take(data, record), "not taken: %s", record);
}

void make_host(struct tern_mc_data *data, int i)
{
    take(data, "host %d n%04d", i, i + 1);
    take(data, "fact %d hostname n%04d", i, i + 1);
    take(data, "fact %d mpi Tern MPI 1.0", i);
    take(data, "fact %d kernel 6.1.0-28", i);
    take(data, "fact %d now.load 0.0%d 0.0 0.0 1/100 1", i, i % 10);
    take(data, "fact %d nic.eth0.mtu 1500", i);
    take(data, "fact %d nic.eth0.operstate up", i);
    take(data, "fact %d addr.eth0 10.0.%d.%d/16", i, i / 250, i % 250 + 1);
    take(data, "core %d 0 %d 0.99", i, 20000 + i % 50);
    take(data, "core %d 1 %d 0.99", i, 20100 + i % 50);
    take(data, "node %d 40.%d 0.1 0", i, i % 10);
    take(data, "clock %d 0.00000%d 0.000010", i, i % 10);
    take(data, "socket %d eth0 10.0.%d.%d 10.0.0.%d 100000 0", i, i / 250, i % 250 + 1,
         i == 0 ? 2 : 1);
}

static double true_rate(const struct cluster *cluster, int from, int to)
{
    double rate = GOOD_MBPS;
    if (from == cluster->slow_sender || to == cluster->slow_receiver ||
        (from == cluster->slow_from && to == cluster->slow_to))
        rate *= cluster->factor;
    bool leaves = cluster->group && (from < cluster->group) != (to < cluster->group);
    leaves |= cluster->group_size && from / cluster->group_size != to / cluster->group_size;
    leaves |= cluster->slow_hosts && (from >= cluster->slow_hosts || to >= cluster->slow_hosts);
    int first = cluster->group ? cluster->group : cluster->slow_hosts;
    if (leaves && !(cluster->one_way && from < first))
        rate *= cluster->factor;
    return rate;
}

static double true_latency(const struct cluster *cluster, int from, int to)
{
    return from == cluster->late || to == cluster->late ? 3 * GOOD_US : GOOD_US;
}

/* Returns a part of 1, at least 1 - noise. */
static double luck_of(double noise)
{
    return 1 - noise * (double)choose(0, 1000) / 1000;
}

struct tern_mc_data *make_cluster(const struct cluster *cluster, unsigned number)
{
    struct tern_mc_data *data = tern_mc_data_new(cluster->hosts);
    ck_assert_ptr_nonnull(data);
    seed = number;
    for (int i = 0; i < cluster->hosts; i++)
        make_host(data, i);
    for (int a = 0; a < cluster->hosts; a++)
        for (int b = 0; b < cluster->hosts; b++) {
            double luck = luck_of(cluster->noise);
            if (a == b)
                continue;
            take(data, "bw %d %d pairs %.2f 0.9", a, b, true_rate(cluster, a, b) * luck);
            if (a < b)
                take(data, "lat %d %d pairs %.2f 25 90", a, b, true_latency(cluster, a, b));
        }
    return data;
}

int measure_alone(struct tern_mc_data *data, const struct cluster *cluster, double share)
{
    static const struct tern_mc_expected nothing;
    int pairs[TERN_MC_SUSPECTS_MOST][2];
    int count = tern_mc_suspects(data, &nothing, pairs);
    ck_assert_int_le(count, TERN_MC_SUSPECTS_MOST);
    for (int sample = 0; sample < 5; sample++)
        for (int i = 0; i < count; i++) {
            int a = pairs[i][0], b = pairs[i][1];
            double luck = luck_of(0.1);
            take(data, "lat %d %d alone %.2f 25 90", a, b, true_latency(cluster, a, b));
            take(data, "bw %d %d alone %.2f %.2f", a, b, true_rate(cluster, a, b) * luck, share);
            take(data, "bw %d %d alone %.2f %.2f", b, a, true_rate(cluster, b, a) * luck, share);
        }
    return count;
}

struct tern_mc_findings judge(const struct tern_mc_data *data,
                              const struct tern_mc_expected *expected)
{
    static const struct tern_mc_expected nothing;
    struct tern_mc_findings findings = {0};
    tern_mc_judge_hosts(data, &findings);
    tern_mc_judge_gpus(data, &findings);
    tern_mc_judge_links(data, &findings);
    tern_mc_judge_speed(data, expected ? expected : &nothing, &findings);
    tern_mc_judge_networks(data, &findings);
    tern_mc_judge_good(data, &findings);
    return findings;
}

int accusations(const struct tern_mc_findings *findings)
{
    int count = 0;
    for (int i = 0; i < findings->count; i++)
        count += findings->items[i].severity >= TERN_MC_WARN;
    return count;
}

void expect_nobody(struct tern_mc_data *data)
{
    struct tern_mc_findings findings = judge(data, NULL);
    for (int i = 0; i < findings.count; i++)
        ck_assert_msg(findings.items[i].severity < TERN_MC_WARN, "accused: %s %s %s", findings.items[i].id, findings.items[i].who,
                      findings.items[i].what);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}

void expect_not_measured(struct tern_mc_data *data)
{
    struct tern_mc_findings findings = judge(data, NULL);
    ck_assert_int_eq(accusations(&findings), 0);
    ck_assert_int_eq(tern_mc_exit_code(&findings, false), 3);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}

void expect_one(struct tern_mc_data *data, const char *id, const char *who)
{
    struct tern_mc_findings findings = judge(data, NULL);
    const struct tern_mc_finding *found = NULL;
    for (int i = 0; i < findings.count; i++)
        if (findings.items[i].severity >= TERN_MC_WARN) {
            ck_assert_msg(!found, "also accused: %s %s %s", findings.items[i].id,
                          findings.items[i].who, findings.items[i].what);
            found = &findings.items[i];
        }
    ck_assert_msg(found, "nobody is accused, expected %s %s", id, who);
    ck_assert_str_eq(found->id, id);
    ck_assert_str_eq(found->who, who);
    ck_assert_ptr_nonnull(found->next);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}

