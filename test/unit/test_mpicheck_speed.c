/* SPDX-License-Identifier: BSD-3-Clause */

/* Whom mpicheck calls slow: healthy clusters are never accused, each slow host, pair and group is named, and nothing else is. */
#include "mpicheck/data/fold.h"
#include "mpicheck_cluster.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* ---- who is accused ---- */

START_TEST(healthy_hosts_are_never_accused)
{
    for (unsigned number = 1; number <= 30; number++) {
        struct cluster cluster = healthy;
        cluster.hosts = 2 + (int)number;
        struct tern_mc_data *data = make_cluster(&cluster, number);
        measure_alone(data, &cluster, 0.95);
        struct tern_mc_findings findings = judge(data, NULL);
        ck_assert_msg(accusations(&findings) == 0, "cluster %u: %s %s", number, findings.items[0].who,
                      findings.items[0].what);
        ck_assert_int_eq(tern_mc_exit_code(&findings, true), 0);
        tern_mc_findings_free(&findings);
        tern_mc_data_free(data);
    }
}
END_TEST

START_TEST(the_tournament_accuses_nobody)
{
    struct cluster cluster = healthy;
    cluster.slow_sender = 3;
    cluster.factor = 0.2;
    struct tern_mc_data *data = make_cluster(&cluster, 1);
    struct tern_mc_findings findings = judge(data, NULL); /* without samples alone */
    ck_assert_int_eq(accusations(&findings), 0);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}
END_TEST

static struct tern_mc_data *make_tested(const struct cluster *cluster)
{
    struct tern_mc_data *data = make_cluster(cluster, 7);
    ck_assert_int_gt(measure_alone(data, cluster, 0.95), 0);
    return data;
}

START_TEST(a_slow_sender_is_named)
{
    struct cluster cluster = healthy;
    cluster.slow_sender = 3;
    cluster.factor = 0.3;
    expect_one(make_tested(&cluster), "host.sends", "n0004");
}
END_TEST

START_TEST(a_slow_receiver_is_named)
{
    struct cluster cluster = healthy;
    cluster.slow_receiver = 0;
    cluster.factor = 0.3;
    expect_one(make_tested(&cluster), "host.receives", "n0001");
}
END_TEST

START_TEST(a_slow_pair_is_named)
{
    struct cluster cluster = healthy;
    cluster.noise = 0.2;
    cluster.slow_from = 2;
    cluster.slow_to = 5;
    cluster.factor = 0.1;
    expect_one(make_tested(&cluster), "pair.slow", "n0003 -> n0006");
}
END_TEST

START_TEST(a_group_is_named)
{
    struct cluster cluster = healthy;
    cluster.noise = 0.1;
    cluster.group = 5;
    cluster.factor = 0.2;
    expect_one(make_tested(&cluster), "group.slow", "n[0006-0008]");
}
END_TEST

START_TEST(groups_of_the_same_size_are_named)
{
    struct cluster cluster = healthy;
    cluster.noise = 0.2;
    for (int size = 2; size <= 16; size *= 2) {
        cluster.hosts = 2 * size;
        cluster.group = size;
        cluster.factor = 1.0 / 60;
        char *who = tern_mc_format("n[0001-%04d] <-> n[%04d-%04d]", size, size + 1, 2 * size);
        expect_one(make_tested(&cluster), "group.slow", who);
        free(who);
    }
    cluster.one_way = true;
    expect_one(make_tested(&cluster), "group.slow", "n[0001-0016] <- n[0017-0032]");
}
END_TEST

START_TEST(several_groups_are_named)
{
    struct cluster cluster = healthy;
    cluster.noise = 0.2;
    cluster.hosts = 16;
    cluster.group_size = 4;
    cluster.factor = 1.0 / 60;
    const char *who = "n[0001-0004] <-> n[0005-0008] <-> n[0009-0012] <-> n[0013-0016]";
    expect_one(make_tested(&cluster), "group.slow", who);
    cluster.group_size = 7; /* and one of two */
    expect_one(make_tested(&cluster), "group.slow", "n[0001-0007] <-> n[0008-0014] <-> n[0015-0016]");
}
END_TEST

START_TEST(a_group_of_two_is_named)
{
    struct cluster cluster = healthy;
    cluster.noise = 0.2;
    cluster.factor = 0.05;
    for (cluster.hosts = 5; cluster.hosts < 40; cluster.hosts += 3)
        for (int one_way = 0; one_way < 2; one_way++) {
            cluster.group = cluster.hosts - 2;
            cluster.one_way = one_way;
            char *who = tern_mc_format("n[%04d-%04d]", cluster.hosts - 1, cluster.hosts);
            expect_one(make_tested(&cluster), "group.slow", who);
            free(who);
        }
}
END_TEST

START_TEST(half_of_the_hosts_are_named)
{
    struct cluster cluster = healthy;
    cluster.noise = 0.2;
    cluster.hosts = 16;
    cluster.slow_hosts = 8;
    cluster.factor = 1.0 / 60;
    expect_one(make_tested(&cluster), "hosts.slow", "n[0009-0016]");
    cluster.factor = 0.4;
    expect_one(make_tested(&cluster), "hosts.slow", "n[0009-0016]");
    cluster.one_way = true;
    expect_one(make_tested(&cluster), "hosts.slow", "n[0009-0016]");
    cluster.hosts = 200;
    cluster.slow_hosts = 150; /* more than can be measured alone one by one */
    expect_one(make_tested(&cluster), "hosts.slow", "n[0151-0200]");
}
END_TEST

/* One sample in vain in the direction of a pair, and one slow sender, where four hosts are few. */
START_TEST(four_hosts_are_judged_rightly)
{
    struct cluster cluster = healthy;
    cluster.hosts = 4;
    cluster.noise = 0.1;
    cluster.group = 2;
    cluster.factor = 0.02;
    struct tern_mc_data *data = make_cluster(&cluster, 1);
    take(data, "bw 1 0 pairs 30 0.3");
    ck_assert_int_gt(measure_alone(data, &cluster, 0.95), 0);
    expect_one(data, "group.slow", "n[0001-0002] <-> n[0003-0004]");

    /* all pairs are suspicious */
    data = make_cluster(&cluster, 1);
    take(data, "bw 0 1 pairs %d 0.3", GOOD_MBPS / 3);
    take(data, "bw 2 3 pairs %d 0.3", GOOD_MBPS / 2);
    ck_assert_int_gt(measure_alone(data, &cluster, 0.95), 0);
    expect_one(data, "group.slow", "n[0001-0002] <-> n[0003-0004]");

    cluster.group = 0;
    cluster.slow_sender = 1;
    data = make_cluster(&cluster, 1);
    take(data, "bw 0 3 pairs 40 0.3");
    take(data, "bw 3 2 pairs 40 0.3");
    ck_assert_int_gt(measure_alone(data, &cluster, 0.95), 0);
    expect_one(data, "host.sends", "n0002");
}
END_TEST

/* Records of an earlier version, or of a check that was interrupted: nothing was measured alone. */
START_TEST(groups_are_plain_without_samples_alone)
{
    struct cluster cluster = healthy;
    cluster.noise = 0.2;
    cluster.hosts = 16;
    cluster.group = 8;
    cluster.factor = 1.0 / 60;
    expect_one(make_cluster(&cluster, 1), "group.slow", "n[0001-0008] <-> n[0009-0016]");
    cluster.factor = 0.45; /* the link is only busy? */
    expect_nobody(make_cluster(&cluster, 1));
    cluster.group = 0;
    cluster.slow_hosts = 8;
    cluster.factor = 1.0 / 60;
    expect_one(make_cluster(&cluster, 1), "hosts.slow", "n[0009-0016]");
}
END_TEST

START_TEST(a_link_that_is_only_shared_is_no_fault)
{
    struct cluster cluster = healthy, alone = healthy;
    cluster.noise = 0.2;
    cluster.hosts = alone.hosts = 16;
    cluster.group = 8;
    cluster.factor = 0.1; /* while all pairs send at once */
    struct tern_mc_data *data = make_cluster(&cluster, 1);
    ck_assert_int_gt(measure_alone(data, &alone, 0.95), 0);
    expect_nobody(data);
}
END_TEST

START_TEST(few_samples_alone_accuse_nobody)
{
    static const struct tern_mc_expected nothing;
    struct cluster cluster = healthy;
    cluster.slow_sender = 3;
    cluster.factor = 0.2;
    struct tern_mc_data *data = make_cluster(&cluster, 7);
    int pairs[TERN_MC_SUSPECTS_MOST][2], count = tern_mc_suspects(data, &nothing, pairs);
    for (int i = 0; i < count; i++)
        for (int way = 0; way < 2; way++) {
            bool slow = pairs[i][way] == 3;
            take(data, "bw %d %d alone %d 1", pairs[i][way], pairs[i][!way], slow ? GOOD_MBPS / 5 : GOOD_MBPS);
            if (way)
                take(data, "lat %d %d alone %d 100 100", pairs[i][0], pairs[i][1], i == 0 ? 90 : GOOD_US);
        }
    expect_not_measured(data);
}
END_TEST

START_TEST(one_of_many_is_named)
{
    struct cluster cluster = healthy;
    cluster.hosts = 64;
    cluster.slow_sender = 30;
    cluster.factor = 0.5;
    expect_one(make_tested(&cluster), "host.sends", "n0031");
}
END_TEST

START_TEST(busy_hosts_are_not_accused)
{
    struct cluster cluster = healthy;
    cluster.slow_sender = 3;
    cluster.factor = 0.5; /* half the speed at half the processor's time says nothing */
    struct tern_mc_data *data = make_cluster(&cluster, 7);
    measure_alone(data, &cluster, 0.5);
    expect_not_measured(data);
}
END_TEST

/* Four hosts, of which the second sends slowly; three unlucky samples make the last two suspicious,
 * too. */
static struct tern_mc_data *make_dubious(const struct cluster *cluster)
{
    struct tern_mc_data *data = make_cluster(cluster, 7);
    take(data, "bw 0 3 pairs %d 0.3", GOOD_MBPS / 4);
    take(data, "bw 2 0 pairs %d 0.5", GOOD_MBPS / 2);
    take(data, "bw 2 3 pairs %d 0.3", GOOD_MBPS / 4);
    return data;
}

START_TEST(one_pair_alone_blames_nobody)
{
    struct cluster cluster = healthy;
    cluster.hosts = 4;
    cluster.noise = 0;
    cluster.slow_sender = 1;
    cluster.factor = 0.1;
    struct tern_mc_data *data = make_dubious(&cluster);
    measure_alone(data, &cluster, 0.95);
    expect_one(data, "host.sends", "n0002");

    /* one of its pairs is slow for sure, the others were too busy: is it the host or the pair? */
    data = make_dubious(&cluster);
    for (int sample = 0; sample < 5; sample++) {
        take(data, "bw 1 0 alone %d 1", GOOD_MBPS / 10);
        take(data, "bw 0 1 alone %d 1", GOOD_MBPS);
        for (int peer = 2; peer < 4; peer++) {
            take(data, "bw 1 %d alone %d 0.5", peer, GOOD_MBPS / 2);
            take(data, "bw %d 1 alone %d 1", peer, GOOD_MBPS);
        }
        take(data, "bw 2 0 alone %d 1", GOOD_MBPS);
        take(data, "bw 0 2 alone %d 1", GOOD_MBPS);
    }
    expect_not_measured(data);
}
END_TEST

START_TEST(slow_for_lack_of_a_processor_is_no_fault)
{
    struct cluster cluster = healthy;
    cluster.slow_sender = 3;
    cluster.factor = 0.15; /* less than a third, but of a sixth of the time */
    struct tern_mc_data *data = make_cluster(&cluster, 7);
    measure_alone(data, &cluster, 0.16);
    expect_not_measured(data);
}
END_TEST

/* Measures the suspects alone: all are as fast as good pairs. Returns their number. */
static int measure_good(struct tern_mc_data *data, const struct tern_mc_expected *expected)
{
    int pairs[TERN_MC_SUSPECTS_MOST][2];
    int count = tern_mc_suspects(data, expected, pairs);
    for (int i = 0; i < 5 * count; i++) {
        const int *pair = pairs[i % count];
        take(data, "bw %d %d alone %d 0.95", pair[0], pair[1], GOOD_MBPS);
        take(data, "bw %d %d alone %d 0.95", pair[1], pair[0], GOOD_MBPS);
    }
    return count;
}

START_TEST(less_than_expected_is_named)
{
    struct cluster cluster = healthy;
    struct tern_mc_data *data = make_cluster(&cluster, 3);
    const struct tern_mc_expected expected = {.bandwidth = 2 * GOOD_MBPS};
    ck_assert_int_gt(measure_good(data, &expected), 0);
    struct tern_mc_findings findings = judge(data, &expected);
    ck_assert_int_eq(tern_mc_exit_code(&findings, false), 2);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}
END_TEST

/* Judges a healthy cluster of 6 hosts after this baseline. */
static struct tern_mc_findings judge_after(struct tern_mc_data *baseline)
{
    struct cluster cluster = healthy;
    cluster.hosts = 6;
    struct tern_mc_data *data = make_cluster(&cluster, 5);
    const struct tern_mc_expected expected = {.baseline = baseline};
    measure_good(data, &expected);
    struct tern_mc_findings findings = judge(data, &expected);
    tern_mc_data_free(data);
    tern_mc_data_free(baseline);
    return findings;
}

START_TEST(slower_than_before_is_named)
{
    struct cluster cluster = healthy;
    cluster.hosts = 6;
    struct tern_mc_data *baseline = make_cluster(&cluster, 4);
    for (int i = 0; i < 36; i++)
        baseline->bandwidth[i] *= 2;
    struct tern_mc_findings findings = judge_after(baseline);
    ck_assert_int_eq(tern_mc_exit_code(&findings, false), 2);
    for (int i = 0; i < findings.count; i++)
        if (findings.items[i].severity == TERN_MC_FAIL)
            ck_assert_msg(strstr(findings.items[i].what, ", before "), "%s", findings.items[i].what);
    tern_mc_findings_free(&findings);
}
END_TEST

/* One sample of an earlier run was twice as fast as all others: its pair is not slow today. */
START_TEST(a_lucky_sample_before_accuses_nobody)
{
    struct cluster cluster = healthy;
    cluster.hosts = 6;
    struct tern_mc_data *baseline = make_cluster(&cluster, 4);
    baseline->bandwidth[0 * 6 + 5] = 2 * GOOD_MBPS;
    struct tern_mc_findings findings = judge_after(baseline);
    ck_assert_int_eq(accusations(&findings), 0);
    tern_mc_findings_free(&findings);
}
END_TEST

/* ---- losses and interfaces ---- */

START_TEST(loss_is_named)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    for (int i = 0; i < healthy.hosts; i++)
        if (i != 4)
            take(data, "socket 4 eth0 10.0.0.5 10.0.0.%d 1000 40", i + 1);
    expect_one(data, "host.loss", "n0005");
}
END_TEST

START_TEST(loss_explains_what_is_slow)
{
    struct cluster cluster = healthy;
    cluster.slow_sender = 4;
    cluster.slow_receiver = 4; /* as the answers are lost, too */
    cluster.factor = 0.3;
    struct tern_mc_data *data = make_tested(&cluster);
    for (int i = 0; i < healthy.hosts; i++)
        if (i != 4)
            take(data, "socket 4 eth0 10.0.0.5 10.0.0.%d 1000 40", i + 1);
    expect_one(data, "host.sends", "n0005");
}
END_TEST

START_TEST(a_little_loss_is_normal)
{
    struct tern_mc_data *data = make_cluster(&healthy, 1);
    for (int i = 0; i < healthy.hosts; i++)
        if (i != 4)
            take(data, "socket 4 eth0 10.0.0.5 10.0.0.%d 10000 70", i + 1);
    struct tern_mc_findings findings = judge(data, NULL);
    ck_assert_int_eq(accusations(&findings), 0);
    tern_mc_findings_free(&findings);
    tern_mc_data_free(data);
}
END_TEST

START_TEST(another_interface_is_named)
{
    struct tern_mc_data *data = tern_mc_data_new(5);
    for (int i = 0; i < 5; i++) {
        take(data, "host %d n%d", i, i + 1);
        take(data, "fact %d addr.%s 10.0.0.%d/16", i, i == 3 ? "eth1" : "eth0", i + 1);
        take(data, "socket %d %s 10.0.0.%d 10.0.0.%d 100 0", i, i == 3 ? "eth1" : "eth0", i + 1,
             (i + 1) % 5 + 1);
    }
    expect_one(data, "path.odd", "n4");
}
END_TEST

/* Makes four hosts, the third of which is connected by eth1, the others among themselves by eth0. The pairs have these rates, in
 * MB/s, and are measured alone, too. */
static struct tern_mc_data *make_two_networks(int by_eth0, int from_third, int to_third)
{
    static const struct tern_mc_expected nothing;
    enum { HOSTS = 4, THIRD = 2 };
    struct tern_mc_data *data = tern_mc_data_new(HOSTS);
    int pairs[TERN_MC_SUSPECTS_MOST][2];
    for (int a = 0; a < HOSTS; a++) {
        take(data, "host %d n%d", a, a + 1);
        for (int nic = 0; nic < 2; nic++)
            take(data, "fact %d addr.eth%d 10.%d.0.%d/24", a, nic, nic, a + 1);
        for (int b = 0; b < HOSTS; b++) {
            int nic = a == THIRD || b == THIRD;
            if (a == b)
                continue;
            take(data, "socket %d eth%d 10.%d.0.%d 10.%d.0.%d 100 0", a, nic, nic, a + 1, nic, b + 1);
            take(data, "bw %d %d pairs %d 0.9", a, b, a == THIRD ? from_third : b == THIRD ? to_third : by_eth0);
        }
    }
    int count = tern_mc_suspects(data, &nothing, pairs);
    for (int sample = 0; sample < 5; sample++)
        for (int i = 0; i < count; i++)
            for (int way = 0; way < 2; way++) {
                int from = pairs[i][way], to = pairs[i][!way];
                take(data, "bw %d %d alone %d 1", from, to,
                     from == THIRD ? from_third : to == THIRD ? to_third : by_eth0);
            }
    return data;
}

/* Makes four hosts that have two networks, and messages that go by the good ones. The third one's eth1 sends and receives at these
 * rates, MB/s; both ends have a processor in `share` of the time. 0: it does not answer. */
static struct tern_mc_data *make_networks(double sends, double receives, double share)
{
    struct cluster cluster = healthy;
    cluster.hosts = 4;
    struct tern_mc_data *data = make_cluster(&cluster, 1);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            if (a == b)
                continue;
            take(data, "net %d %d eth0 %d 0.99", a, b, 900 + 30 * a + 10 * b);
            double rate = a == 2 ? sends : b == 2 ? receives : 3800 - 100 * a + 400 * b;
            take(data, "net %d %d eth1 %.2f %.2f", a, b, rate, a == 2 || b == 2 ? share : 0.99);
        }
    return data;
}

START_TEST(a_bad_second_network_is_named)
{
    expect_nobody(make_networks(3800, 3800, 0.9));
    expect_nobody(make_networks(1000, 1000, 0.9)); /* short samples vary */
    expect_nobody(make_networks(400, 400, 0.3));   /* it lacked a processor */
    expect_one(make_networks(90, 3800, 0.9), "net.slow", "n0003");
    expect_one(make_networks(90, 90, 0.9), "net.slow", "n0003");
    expect_one(make_networks(3800, 0, 0.9), "net.silent", "n0003");
    struct tern_mc_data *data = make_networks(3800, 0, 0.9);
    for (int i = 0; i < 4; i++)
        for (int nic = 0; nic < (i == 2 ? 1 : 2); nic++) /* so all of its connections go by eth0 */
            take(data, "socket %d eth%d 10.%d.0.%d 10.%d.0.%d 100 0", i, nic, nic, i + 1, nic, i == 0 ? 2 : 1);
    expect_one(data, "net.silent", "n0003");
    data = make_networks(3800, 3800, 0.9);
    take(data, "net 1 0 eth1 0 1");
    expect_one(data, "net.silent", "n0002 -> n0001");
}
END_TEST

START_TEST(pairs_are_compared_with_those_of_the_same_interface)
{
    expect_one(make_two_networks(3900, 5500, 5500), "path.odd", "n3");
    expect_one(make_two_networks(2000, 5500, 5500), "path.odd", "n3");
}
END_TEST

START_TEST(a_host_with_a_slow_interface_of_its_own_is_named)
{
    for (int receives = 0; receives < 2; receives++) {
        struct tern_mc_data *data = make_two_networks(5500, receives ? 5500 : 1000, receives ? 1000 : 5500);
        struct tern_mc_findings findings = judge(data, NULL);
        ck_assert_int_eq(accusations(&findings), 2); /* a warning of its interface, too */
        ck_assert(tern_mc_is_named(&findings, receives ? "host.receives" : "host.sends", 2));
        tern_mc_findings_free(&findings);
        tern_mc_data_free(data);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mpicheck: speed");
    TCase *tests = suite_case(suite, "who is accused");
    tcase_add_test(tests, healthy_hosts_are_never_accused);
    tcase_add_test(tests, the_tournament_accuses_nobody);
    tcase_add_test(tests, a_slow_sender_is_named);
    tcase_add_test(tests, a_slow_receiver_is_named);
    tcase_add_test(tests, a_slow_pair_is_named);
    tcase_add_test(tests, a_group_is_named);
    tcase_add_test(tests, groups_of_the_same_size_are_named);
    tcase_add_test(tests, several_groups_are_named);
    tcase_add_test(tests, a_group_of_two_is_named);
    tcase_add_test(tests, half_of_the_hosts_are_named);
    tcase_add_test(tests, four_hosts_are_judged_rightly);
    tcase_add_test(tests, groups_are_plain_without_samples_alone);
    tcase_add_test(tests, a_link_that_is_only_shared_is_no_fault);
    tcase_add_test(tests, few_samples_alone_accuse_nobody);
    tcase_add_test(tests, one_of_many_is_named);
    tcase_add_test(tests, busy_hosts_are_not_accused);
    tcase_add_test(tests, one_pair_alone_blames_nobody);
    tcase_add_test(tests, slow_for_lack_of_a_processor_is_no_fault);
    tcase_add_test(tests, less_than_expected_is_named);
    tcase_add_test(tests, slower_than_before_is_named);
    tcase_add_test(tests, a_lucky_sample_before_accuses_nobody);
    tests = suite_case(suite, "losses and interfaces");
    tcase_add_test(tests, loss_is_named);
    tcase_add_test(tests, loss_explains_what_is_slow);
    tcase_add_test(tests, a_little_loss_is_normal);
    tcase_add_test(tests, another_interface_is_named);
    tcase_add_test(tests, a_bad_second_network_is_named);
    tcase_add_test(tests, pairs_are_compared_with_those_of_the_same_interface);
    tcase_add_test(tests, a_host_with_a_slow_interface_of_its_own_is_named);
    return suite_run(suite);
}
