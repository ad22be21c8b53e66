/* SPDX-License-Identifier: BSD-3-Clause */

/* What mpicheck concludes from records about hosts and links, and its reports: each fault is named, and nothing else is. The data
 * are made up. test_mpicheck_speed.c has what is slow. */
#include "mpicheck/data/interfaces.h"
#include "mpicheck/data/wishes.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/judge/judge_facts.h"
#include "mpicheck/data/medians.h"
#include "mpicheck/data/records.h"
#include "mpicheck/report/reports.h"
#include "mpicheck/judge/standing.h"
#include "mpicheck_cluster.h"
#include "suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names and figures ---- */

static void folds_as(const char *wanted, int most, const char *const *names, int count)
{
    char *text = tern_mc_fold(names, count, most);
    ck_assert_str_eq(text, wanted);
    free(text);
}

START_TEST(names_are_folded)
{
    folds_as("n[01-03,07]", 0, (const char *[]){"n07", "n02", "n01", "n03"}, 4);
    folds_as("login,n[8-11]", 0, (const char *[]){"n10", "n8", "n9", "login", "n11", "n8"}, 6);
    folds_as("a1.x.org", 0, (const char *[]){"a1.x.org"}, 1);
    folds_as("a[1-2].x.org", 0, (const char *[]){"a1.x.org", "a2.x.org"}, 2);
    /* with and without leading zeros are other names */
    folds_as("n[1,01]", 0, (const char *[]){"n1", "n01"}, 2);
    folds_as("", 0, NULL, 0);
}
END_TEST

START_TEST(long_lists_of_names_are_cut)
{
    char text[200][8];
    const char *names[200];
    for (int i = 0; i < 200; i++) {
        snprintf(text[i], sizeof text[i], "n%03d", 2 * i);
        names[i] = text[i];
    }
    char *folded = tern_mc_fold(names, 200, 40);
    ck_assert_int_le((int)strlen(folded), 70);
    ck_assert_ptr_nonnull(strstr(folded, "(200 in all)"));
    free(folded);
}
END_TEST

START_TEST(expected_figures_are_read)
{
    double bandwidth = 0, latency = 0;
    ck_assert(tern_mc_read_expected("bw=11.5GB/s,lat=3us", &bandwidth, &latency));
    ck_assert_double_eq_tol(bandwidth, 11500, 1e-6);
    ck_assert_double_eq_tol(latency, 3, 1e-9);
    bandwidth = latency = 0;
    ck_assert(tern_mc_read_expected("bw=100Gbit/s", &bandwidth, &latency));
    ck_assert_double_eq_tol(bandwidth, 12500, 1e-6);
    ck_assert(tern_mc_read_expected("lat=900ns", &bandwidth, &latency));
    ck_assert_double_eq_tol(latency, 0.9, 1e-9);
    bandwidth = latency = 0;
    static const char *const wrong[] = {"", "bw=", "bw=5", "bw=-1GB/s", "lat=3GB/s", "x=3us",
                                        "bw=1GB/s;lat=2us", "bw=nanGB/s",
                                        "bw=1GB/s,bw=2GB/s"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++, bandwidth = latency = 0)
        ck_assert_msg(!tern_mc_read_expected(wrong[i], &bandwidth, &latency), "%s", wrong[i]);
}
END_TEST

START_TEST(fit_finds_host_and_rest)
{
    enum { N = 9 };
    float values[N * N];
    struct tern_mc_fit fit;
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            values[a * N + b] = a == b ? 0 : (float)(1000 * (a == 2 ? 0.25 : 1));
    values[4 * N + 7] = 100;
    tern_mc_fit_make(values, N, &fit);
    ck_assert_double_eq_tol(exp(fit.all), 1000, 1);
    ck_assert_double_eq_tol(exp(fit.sends[2]), 0.25, 0.01);
    ck_assert_double_eq_tol(fit.receives[2], 0, 0.01);
    ck_assert_double_eq_tol(exp(tern_mc_fit_rest(&fit, 4, 7, 100)), 0.1, 0.01);
    ck_assert_double_eq_tol(tern_mc_fit_rest(&fit, 2, 3, 250), 0, 0.01);
    tern_mc_fit_free(&fit);
    /* hosts without values do not count */
    for (int i = 0; i < N * N; i++)
        values[i] = i % N < 3 && i / N < 3 && i % N != i / N ? 1000 : 0;
    tern_mc_fit_make(values, N, &fit);
    ck_assert_double_eq_tol(exp(fit.all), 1000, 1);
    ck_assert_double_eq_tol(fit.sends[0], 0, 0.01);
    ck_assert_double_eq_tol(fit.sends[8], 0, 0.01);
    tern_mc_fit_free(&fit);
}
END_TEST

START_TEST(wrong_records_are_refused)
{
    struct tern_mc_data *data = tern_mc_data_new(2);
    static const char *const wrong[] = {
        "", "host", "host 2 n3", "host -1 n0", "host 1 n2", "host 0 two words", "host 0 n$(x)", "socket 0 `x` 1.2.3.4 1.2.3.5 1 1",
        "bw 0 0 pairs 1 1",
        "bw 0 2 pairs 1 1", "bw 0 1 pairs nan 1", "bw 0 1 pairs inf 1", "bw 0 1 pairs 1e99 1",
        "bw 0 1 pairs 0x1 1", "bw 0 1 pairs -1 1", "bw 0 1 pairs 1 1 1", "bw 0 1 other 1 1",
        "bw 0 1 pairs 1", "lat 0 1 pairs x", "lat 0 1 pairs 1 1", "first 0 1", "fact 0", "core 0",
        "core 0 99999999999999999999 1 1", "clock 0 nan 0", "together x", "together bisection 1",
        "together other 1 1", "nothing 0 1", "dead 0", "dead 0 1 soon", "hang 0 1", "hang 0 1 X",
        "begin", "begin 1e300", "phase x", "end", "end soon", "reach 0"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!tern_mc_take(data, wrong[i]), "%s", wrong[i]);
    take(data, "host 0 n1");
    ck_assert(!tern_mc_take(data, "host 0 n1"));
    take(data, "host 1 n2");
    for (int i = 0; i < data->count; i++)
        ck_assert_int_eq(data->hosts[i].fact_count + data->hosts[i].core_count, 0);
    ck_assert_int_eq(data->state[1] | data->phase_count, 0);
    tern_mc_data_free(data);
}
END_TEST

START_TEST(records_become_printable)
{
    static const char *const texts[][2] = {
        {"fact 0 a\tb c", "fact 0 a b c"},
        {"gone 0 \x1b[2J\x07", "gone 0 \\x1b[2J\\x07"},
        {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82"},
        {"\xc3", "\\xc3"},
        {"\xff\xc0\xaf", "\\xff\\xc0\\xaf"},
        {"\xc2\x9b", "\\xc2\\x9b"},
        {"\xe2\x80\xae", "\\xe2\\x80\\xae"},
        {"\xed\xa0\x80 \xef\xbf\xbf", "\\xed\\xa0\\x80 \\xef\\xbf\\xbf"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *made = tern_mc_printable(texts[i][0]);
        ck_assert_str_eq(made, texts[i][1]);
        free(made);
    }
}
END_TEST

START_TEST(hosts_may_not_say_what_mpicheck_decides)
{
    static const char *const ours[] = {"host 0 n1", "gone 0 x", "unmeasured 0 x", "begin 1 x",
                                       "phase x 1 x", "reach", "end done", "other 0"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        ck_assert_msg(!tern_mc_may_come_from_hosts(ours[i]), "%s", ours[i]);
    ck_assert(tern_mc_may_come_from_hosts("fact 0 a b"));
    ck_assert(tern_mc_may_come_from_hosts("bw 0 1 pairs 1 1"));
}
END_TEST

/* ---- other faults ---- */

START_TEST(a_missing_host_is_named)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    take(data, "gone 4 ssh: connect to host n0005 port 22: No route to host");
    expect_one(data, "host.gone", "n0005");
}
END_TEST

START_TEST(the_command_fits_the_cause)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    take(data, "gone 4 ssh: Could not resolve hostname n0005: Name or service not known");
    take(data, "gone 6 ssh: connect to host n0007 port 22: No route to host");
    struct tern_mc_findings findings = judge(data, NULL);
    ck_assert_int_eq(findings.count > 2, 1);
    ck_assert_str_eq(findings.items[0].next, "getent hosts n0005");
    ck_assert_str_eq(findings.items[1].next, "ssh n0007 true");
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}
END_TEST

/* A record may tell figures of a host that is said to be missing. */
START_TEST(pairs_of_missing_hosts_are_not_counted)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    int hosts = healthy.hosts - 3;
    char expected[32];
    for (int i = 0; i < 3; i++)
        take(data, "gone %d no answer", i);
    struct tern_mc_findings findings = judge(data, NULL);
    const char *said = NULL;
    for (int i = 0; i < findings.count; i++)
        if (strcmp(findings.items[i].id, "ok.pairs") == 0)
            said = findings.items[i].what;
    snprintf(expected, sizeof expected, "%d of %d: ", hosts * (hosts - 1) / 2, hosts * (hosts - 1) / 2);
    ck_assert_ptr_nonnull(said);
    ck_assert_msg(strncmp(said, expected, strlen(expected)) == 0, "%s; expected %s", said, expected);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}
END_TEST

START_TEST(a_host_without_the_interface_is_named)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    take(data, "lacks 2 eth1 its eth1 does not run; that of 7 other hosts connects them");
    struct tern_mc_findings findings = judge(data, NULL);
    ck_assert_str_eq(findings.items[0].what, "left out: its eth1 does not run; that of 7 other hosts connects them");
    tern_mc_findings_free(&findings);
    expect_one(data, "nic.missing", "n0003");
}
END_TEST

START_TEST(a_dead_pair_is_named)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    take(data, "dead 2 6 first connection timed out");
    take(data, "dead 6 2 first");
    expect_one(data, "link.pair", "n0003 <-> n0007");
}
END_TEST

START_TEST(a_host_without_links_is_named_itself)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    for (int i = 0; i < healthy.hosts; i++)
        if (i != 5)
            take(data, "dead %d 5 long", i);
    expect_one(data, "link.host", "n0006");
}
END_TEST

START_TEST(wrong_data_is_named_first)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    take(data, "wrong 1 2 4096 1048576");
    struct tern_mc_findings findings = judge(data, NULL);
    ck_assert_int_eq(tern_mc_exit_code(&findings, false), 4);
    tern_mc_findings_free(&findings);
    expect_one(data, "data.wrong", "n0002 -> n0003");
}
END_TEST

START_TEST(interfaces_that_connect_hosts_are_found)
{
    struct tern_mc_data *data = tern_mc_data_new(3);
    const char *names[TERN_MC_NICS_MOST];
    for (int i = 0; i < 3; i++) {
        take(data, "host %d n%d", i, i);
        take(data, "fact %d addr.docker0 172.17.0.1/16", i); /* one address on all hosts */
        take(data, "fact %d addr.lost0 10.99.0.%d/24", i, i % 2 + 1);
        take(data, "fact %d addr.eth0 10.77.0.%d/24", i, i + 1);
        take(data, "fact %d addr.eth1 10.%d.0.1/24", i, i + 10); /* another subnet on each */
        take(data, "fact %d addr.ib0 fd00::%d/64", i, i + 1);
        take(data, "fact %d addr.idle0 10.78.0.%d/24", i, i + 1);
        take(data, "fact %d nic.idle0.running no", i);
        take(data, "fact %d nic.eth0.running yes", i);
    }
    take(data, "fact 0 addr.only0 10.5.0.1/24");
    /* an interface becomes a directory */
    for (int i = 0; i < 3; i++) {
        take(data, "fact %d addr.../../eth2 10.79.0.%d/24", i, i + 1);
        take(data, "fact %d addr.. 10.80.0.%d/24", i, i + 1);
    }
    ck_assert_int_eq(tern_mc_interfaces(data, names), 2);
    ck_assert_str_eq(names[0], "eth0");
    ck_assert_str_eq(names[1], "ib0");
    tern_mc_data_free(data);
}
END_TEST

START_TEST(calls_in_one_direction_are_named)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    take(data, "call 3 5 Connection timed out");
    take(data, "call 1 2 Connection timed out"); /* both fail: nothing is said of a direction */
    take(data, "call 2 1 Connection timed out");
    ck_assert(tern_mc_linked(data, 3, 5));
    expect_one(data, "link.one_way", "n0004 -> n0006");
}
END_TEST

START_TEST(a_hang_is_named)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    take(data, "hang 3 4 bandwidth");
    expect_one(data, "link.pair", "n0004 <-> n0005");
}
END_TEST

START_TEST(a_second_reach_forgets_the_first)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    take(data, "dead 2 6 first");
    take(data, "reach");
    struct tern_mc_findings findings = judge(data, NULL);
    ck_assert_int_eq(accusations(&findings), 0);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}
END_TEST

START_TEST(odd_facts_are_named)
{
    struct tern_mc_data *data = tern_mc_data_new(4);
    for (int i = 0; i < 4; i++) {
        make_host(data, i);
        take(data, "fact %d cpu.governor %s", i, i == 2 ? "powersave" : "performance");
    }
    expect_one(data, "fact.odd", "n0003");
}
END_TEST

START_TEST(an_address_of_two_hosts_is_named)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    take(data, "fact 6 addr.eth0 10.0.0.2/16");
    expect_one(data, "address.twice", "n[0002,0007]");
}
END_TEST

START_TEST(a_wrong_clock_is_named)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    take(data, "clock 6 -2.310000 0.000010");
    expect_one(data, "clock.offset", "n0007");
}
END_TEST

START_TEST(a_slow_processor_is_named)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    take(data, "core 1 17 36000 0.99");
    expect_one(data, "node.slow", "n0002");
}
END_TEST

/* Makes four hosts, of which the third has these figures: memory in GB/s, longest pause in ms, work of a processor in us. */
static struct tern_mc_data *make_nodes(double memory, double pause, int work)
{
    struct tern_mc_data *data = tern_mc_data_new(4);
    for (int i = 0; i < 4; i++) {
        take(data, "host %d n%d", i, i + 1);
        take(data, "core %d 0 %d 0.97", i, i == 2 ? work : 20000);
        take(data, "node %d %.1f %.1f 0", i, i == 2 ? memory : 79, i == 2 ? pause : 0.2);
    }
    return data;
}

START_TEST(pauses_are_no_fault)
{
    int hosts[4];
    expect_one(make_nodes(46, 0.3, 20000), "node.memory", "n3");
    expect_one(make_nodes(79, 0.3, 30000), "node.slow", "n3");
    struct tern_mc_data *data = make_nodes(46, 90, 20000);
    ck_assert_int_eq(tern_mc_slow_hosts(data, hosts), 1); /* it is measured again */
    expect_not_measured(data);
    expect_not_measured(make_nodes(79, 90, 30000));
    expect_nobody(make_nodes(79, 90, 20000)); /* its figures are good in spite of it */
}
END_TEST

START_TEST(a_quota_is_named)
{
    struct tern_mc_data *data = tern_mc_data_new(3);
    for (int i = 0; i < 3; i++) {
        take(data, "host %d n%d", i, i + 1);
        take(data, "core %d 0 20000 %s", i, i == 1 ? "0.50" : "0.99");
        take(data, "node %d 40 0.1 %s", i, i == 1 ? "400" : "0");
    }
    expect_one(data, "node.quota", "n2");
}
END_TEST

/* Takes the records of `count` alike GPUs of a host. */
static void add_gpus(struct tern_mc_data *data, int host, int count)
{
    for (int gpu = 0; gpu < count; gpu++) {
        take(data, "gpu %d %d 25.%d 26.1 1400 0.99 Some-GPU-2", host, gpu, gpu);
        for (int other = 0; other < count; other++)
            if (gpu != other)
                take(data, "gpupair %d %d %d %d 0.99 1", host, gpu, other, gpu / 2 == other / 2 ? 300 : 45);
    }
}

static struct tern_mc_data *make_gpu_hosts(int slow_host)
{
    struct cluster cluster = healthy;
    cluster.hosts = 4;
    struct tern_mc_data *data = make_cluster(&cluster, 3);
    for (int host = 0; host < 4; host++)
        if (host != slow_host)
            add_gpus(data, host, 4);
    return data;
}

START_TEST(slow_gpus_are_named)
{
    struct tern_mc_data *data = make_gpu_hosts(-1);
    int hosts[4];
    ck_assert_int_eq(tern_mc_slow_gpus(data, hosts), 0);
    struct tern_mc_findings findings = judge(data, NULL);
    ck_assert_int_eq(accusations(&findings), 0);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
    data = make_gpu_hosts(2);
    take(data, "gpu 2 0 25.3 26.0 1390 0.99 Some-GPU-2");
    take(data, "gpu 2 1 12.1 26.0 1390 0.99 Some-GPU-2");
    take(data, "gpupair 2 0 1 40 0.99 1"); /* of the slow one: said already */
    ck_assert_int_eq(tern_mc_slow_gpus(data, hosts), 1);
    ck_assert_int_eq(hosts[0], 2);
    expect_one(data, "gpu.slow", "n0003");
    data = make_gpu_hosts(2);
    take(data, "gpu 2 0 0 0 0 1 Some-GPU-2");
    expect_one(data, "gpu.dead", "n0003");
    data = make_gpu_hosts(2);
    take(data, "gpu 2 0 25.3 26.0 1390 0.99 Some-GPU-2");
    take(data, "gpu 2 1 25.3 26.0 1390 0.99 Some-GPU-2");
    take(data, "gpupair 2 0 1 22 0.99 0");
    take(data, "gpupair 2 1 0 21 0.99 0");
    expect_one(data, "gpu.pair", "n0003");
    data = make_gpu_hosts(2);
    take(data, "gpu 2 0 12.1 26.0 1390 0.5 Some-GPU-2"); /* the process lacked a processor */
    expect_not_measured(data);
}
END_TEST

/* ---- reports ---- */

static char *print(const struct tern_mc_result *result,
                   void (*write)(const struct tern_mc_result *, FILE *))
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    write(result, out);
    fclose(out);
    return text;
}

static int count_lines(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

START_TEST(the_page_has_few_lines)
{
    enum { MANY = 300 };
    struct tern_mc_data *data = tern_mc_data_new(MANY);
    for (int i = 0; i < MANY; i++) {
        make_host(data, i);
        take(data, "fact %d limit.stack %d", i, i);
        if (i % 3 == 0)
            take(data, "clock %d %d 0.00001", i, i);
        if (i % 7 == 0)
            take(data, "gone %d reason number %d", i, i);
        if (i % 5 == 0)
            take(data, "dead %d %d first", i, (i + 1) % MANY);
    }
    struct tern_mc_findings findings = judge(data, NULL);
    ck_assert_int_gt(findings.count, 60);
    const struct tern_mc_result result = {
        .data = data, .findings = &findings, .exit_code = 2, .directory = "there"};
    char *text = print(&result, tern_mc_print_page);
    ck_assert_int_le(count_lines(text), TERN_MC_LINES_MOST);
    ck_assert_ptr_nonnull(strstr(text, "\nverdict: FAIL ("));
    ck_assert_ptr_nonnull(strstr(text, " more, in the report\n"));
    free(text);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}
END_TEST

START_TEST(texts_of_others_cannot_break_a_report)
{
    struct tern_mc_data *data = tern_mc_data_new(2);
    take(data, "host 0 n1");
    take(data, "host 1 n2");
    take(data, "gone 0 </script><b>&\\ \"quoted\" \x01 & <");
    struct tern_mc_findings findings = judge(data, NULL);
    const struct tern_mc_result result = {.data = data, .findings = &findings, .exit_code = 2};
    char *page = print(&result, tern_mc_write_html), *plain = print(&result, tern_mc_write_json);
    char *cases = print(&result, tern_mc_write_junit);
    /* only the page's own scripts end */
    int ends = 0;
    for (const char *at = page; (at = strstr(at, "</script>")); at++)
        ends++;
    ck_assert_int_eq(ends, 2);
    ck_assert_ptr_null(strstr(plain, "</script>"));
    ck_assert_ptr_null(strchr(plain, 1));
    ck_assert_ptr_nonnull(strstr(plain, "\\ufffd"));
    ck_assert_ptr_nonnull(strstr(cases, "&#xfffd;"));
    ck_assert_ptr_null(strstr(cases, "<b>"));
    free(page);
    free(plain);
    free(cases);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}
END_TEST

/* Expects the names of the hosts that are good, bad and not measured, folded. Frees the data. */
static void stand_as(struct tern_mc_data *data, bool interrupted, const char *good, const char *bad, const char *open)
{
    const char *const wanted[] = {[TERN_MC_STANDS_GOOD] = good, [TERN_MC_STANDS_BAD] = bad, [TERN_MC_STANDS_OPEN] = open};
    struct tern_mc_findings findings = judge(data, NULL);
    const struct tern_mc_result result = {.data = data, .findings = &findings, .interrupted = interrupted};
    int hosts[8];
    for (int standing = TERN_MC_STANDS_GOOD; standing <= TERN_MC_STANDS_OPEN; standing++) {
        int count = tern_mc_hosts_of(&result, (enum tern_mc_standing)standing, hosts);
        char *names = tern_mc_names(data, hosts, count, 0);
        ck_assert_str_eq(names, wanted[standing]);
        free(names);
    }
    char *page = print(&result, tern_mc_print_page), *plain = print(&result, tern_mc_write_json);
    ck_assert_int_eq(strstr(page, "\nhosts not measured (") != NULL, *open != 0);
    ck_assert_int_eq(strstr(plain, "\"not_measured\":[]") == NULL, *open != 0);
    free(page);
    free(plain);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}

START_TEST(hosts_are_good_bad_or_neither)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    stand_as(data, false, "n[0001-0008]", "", "");
    data = make_cluster(&healthy, 1);
    take(data, "gone 4 no answer");
    take(data, "unmeasured 5 too busy");
    stand_as(data, false, "n[0001-0004,0007-0008]", "n0005", "n0006");
    /* the network was to be measured, and was not */
    data = tern_mc_data_new(8);
    for (int i = 0; i < 8; i++)
        make_host(data, i);
    take(data, "phase node 1 done");
    take(data, "phase reach 1 failed: no interface");
    stand_as(data, false, "", "", "n[0001-0008]");
}
END_TEST

START_TEST(only_measured_hosts_are_good)
{
    /* two hosts without a node phase, one without a network */
    struct tern_mc_data *data = tern_mc_data_new(5);
    for (int i = 0; i < 5; i++) {
        take(data, "host %d n%d", i, i + 1);
        take(data, "fact %d kernel 6", i);
        if (i < 3)
            take(data, "node %d 40 0.1 0", i);
        for (int peer = 0; peer < 4; peer++)
            if (i < 4 && peer != i)
                take(data, "bw %d %d pairs 1000 1", i, peer);
    }
    take(data, "phase node 1 done");
    take(data, "phase alone 1 done");
    stand_as(data, false, "n[1-3]", "", "n[4-5]");

    /* a host of which no fact is known */
    data = make_cluster(&healthy, 1);
    struct tern_mc_host *host = &data->hosts[7];
    while (host->fact_count > 0) {
        free(host->facts[--host->fact_count].key);
        free(host->facts[host->fact_count].value);
    }
    stand_as(data, false, "n[0001-0007]", "", "n0008");

    /* suspicious, and not measured alone */
    struct cluster cluster = healthy;
    cluster.noise = 0.1;
    cluster.slow_sender = 2;
    cluster.factor = 0.3;
    stand_as(make_cluster(&cluster, 1), false, "n[0001-0002,0004-0008]", "", "n0003");

    /* Ctrl-C before and after the network was known */
    data = make_cluster(&healthy, 1);
    take(data, "phase pairs 1 interrupted");
    stand_as(data, true, "", "", "n[0001-0008]");
    data = make_cluster(&healthy, 1);
    take(data, "phase alone 1 interrupted");
    stand_as(data, true, "", "", "n[0001-0008]");
    data = make_cluster(&healthy, 1);
    take(data, "phase alone 0 no pair is suspicious");
    take(data, "phase soak 60 interrupted");
    stand_as(data, true, "n[0001-0008]", "", "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mpicheck");
    TCase *tests;
    tests = suite_case(suite, "names and figures");
    tcase_add_test(tests, names_are_folded);
    tcase_add_test(tests, long_lists_of_names_are_cut);
    tcase_add_test(tests, expected_figures_are_read);
    tcase_add_test(tests, fit_finds_host_and_rest);
    tcase_add_test(tests, wrong_records_are_refused);
    tcase_add_test(tests, records_become_printable);
    tcase_add_test(tests, hosts_may_not_say_what_mpicheck_decides);
    tests = suite_case(suite, "other faults");
    tcase_add_test(tests, a_missing_host_is_named);
    tcase_add_test(tests, the_command_fits_the_cause);
    tcase_add_test(tests, pairs_of_missing_hosts_are_not_counted);
    tcase_add_test(tests, a_host_without_the_interface_is_named);
    tcase_add_test(tests, a_dead_pair_is_named);
    tcase_add_test(tests, a_host_without_links_is_named_itself);
    tcase_add_test(tests, wrong_data_is_named_first);
    tcase_add_test(tests, calls_in_one_direction_are_named);
    tcase_add_test(tests, interfaces_that_connect_hosts_are_found);
    tcase_add_test(tests, a_hang_is_named);
    tcase_add_test(tests, a_second_reach_forgets_the_first);
    tcase_add_test(tests, odd_facts_are_named);
    tcase_add_test(tests, an_address_of_two_hosts_is_named);
    tcase_add_test(tests, a_wrong_clock_is_named);
    tcase_add_test(tests, a_slow_processor_is_named);
    tcase_add_test(tests, pauses_are_no_fault);
    tcase_add_test(tests, a_quota_is_named);
    tcase_add_test(tests, slow_gpus_are_named);
    tests = suite_case(suite, "reports");
    tcase_add_test(tests, the_page_has_few_lines);
    tcase_add_test(tests, texts_of_others_cannot_break_a_report);
    tcase_add_test(tests, hosts_are_good_bad_or_neither);
    tcase_add_test(tests, only_measured_hosts_are_good);
    return suite_run(suite);
}
