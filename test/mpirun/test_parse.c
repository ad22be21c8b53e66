/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpirun reads: hosts, hostfiles, policies, control group limits, and machines as hwloc
 * describes them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/error.h"
#include "mpirun/hosts.h"
#include "mpirun/policy.h"
#include "mpirun/topology.h"

START_TEST(test_hosts)
{
    static const struct {
        const char *text, *name;
        int slots;
    } good[] = {
        { "n1", "n1", 1 },
        { "n1:4", "n1", 4 },
        { "n1:*", "n1", 0 },
        { "me@n1:2", "n1", 2 },
        { "fe80::1", "fe80::1", 1 },
        { "[fe80::1]:3", "fe80::1", 3 },
        { "10.0.0.1:2", "10.0.0.1", 2 },
    };
    static const char *const bad[] = { "",     ":3",    "n1:",      "n1:0", "n1:-1",
                                       "n1:x", "n1:3x", "[fe80::1", "@" };
    struct tern_host_entry entry;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_int_eq(tern_host_parse(good[i].text, &entry), 0);
        ck_assert_str_eq(entry.name, good[i].name);
        ck_assert_int_eq(entry.slots, good[i].slots);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(tern_host_parse(bad[i], &entry) == TERN_ERR_ARG, "\"%s\" is accepted",
                      bad[i]);
}
END_TEST

START_TEST(test_hostfile_lines)
{
    static const struct {
        const char *line;
        int result;
        const char *name;
        int slots, max_slots;
    } lines[] = {
        { "", 1, "", 0, 0 },
        { "   # a comment\n", 1, "", 0, 0 },
        { "n1\n", 0, "n1", 0, 0 },
        { "  n1  slots=4 # four\n", 0, "n1", 4, 0 },
        { "n1 slots=4 max-slots=8", 0, "n1", 4, 8 },
        { "n1\tmax_slots=8\r\n", 0, "n1", 0, 8 },
        { "n1:3", 0, "n1", 3, 0 },
        { "me@n1 cpus=2 port=22", 0, "n1", 2, 0 },
        { "n1 slots=", TERN_ERR_ARG, "", 0, 0 },
        { "n1 slots=0", TERN_ERR_ARG, "", 0, 0 },
        { "n1 four", TERN_ERR_ARG, "", 0, 0 },
        { "n1 slot=4", TERN_ERR_ARG, "", 0, 0 },
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct tern_host_entry entry = { 0 };
        ck_assert_int_eq(tern_host_parse_line(lines[i].line, &entry), lines[i].result);
        ck_assert_str_eq(entry.name, lines[i].name);
        ck_assert_int_eq(entry.slots, lines[i].slots);
        ck_assert_int_eq(entry.max_slots, lines[i].max_slots);
    }
}
END_TEST

START_TEST(test_policies)
{
    struct tern_options options = { 0 };
    ck_assert_int_eq(tern_policy_map_by("--map-by", "Socket:PE=4:OVERSUBSCRIBE", &options), 0);
    ck_assert(options.map.by == TERN_LEVEL_SOCKET && options.map.pe == 4 && options.oversubscribe);
    options = (struct tern_options){ 0 };
    ck_assert_int_eq(tern_policy_map_by("--map-by", "ppr:3:numa:pe=2", &options), 0);
    ck_assert(options.map.per_object == 3 && options.map.per_level == TERN_LEVEL_NUMA &&
              options.map.pe == 2);
    options = (struct tern_options){ 0 };
    options.map.by = TERN_LEVEL_DEFAULT;
    ck_assert_int_eq(tern_policy_map_by("--map-by", ":NOOVERSUBSCRIBE", &options), 0);
    ck_assert(options.map.by == TERN_LEVEL_DEFAULT && options.map.no_oversubscribe);
    ck_assert_int_eq(tern_policy_bind_to("--bind-to", "core:overload-allowed", &options), 0);
    ck_assert_int_eq(options.map.bind, TERN_LEVEL_CORE);
    ck_assert_int_eq(tern_policy_rank_by("--rank-by", "l3cache", &options), 0);
    ck_assert_int_eq(options.map.rank_by, TERN_LEVEL_L3);
    static const char *const bad[] = { "x",          "none",       "ppr",          "ppr:2",
                                       "ppr:x:core", "ppr:0:core", "ppr:2:none",   "core:x",
                                       "core:pe=0",  "core:pe=",   "slot:pe=99999" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(tern_policy_map_by("--map-by", bad[i], &options) == TERN_ERR_ARG,
                      "\"%s\" is accepted", bad[i]);
    ck_assert_int_eq(tern_policy_bind_to("--bind-to", "slot", &options), TERN_ERR_ARG);
    ck_assert_int_eq(tern_policy_rank_by("--rank-by", "none", &options), TERN_ERR_ARG);
}
END_TEST

START_TEST(test_soft_numbers)
{
    static const struct {
        const char *text;
        int most, expected; /* 0: refused */
    } cases[] = {
        { "4", 8, 4 },        { "4", 3, 0 },       { "1:5", 3, 3 },       { "1:5", 8, 5 },
        { "2:100:2", 7, 6 },  { "2:100:2", 8, 8 }, { "3:9:3,5", 6, 6 },   { "3:9:3,5", 5, 5 },
        { "9:1:-3", 8, 6 },   { "9:1:-3", 2, 0 },  { "-5:-1", 8, 0 },     { "-5:3", 8, 3 },
        { "0", 8, 0 },        { "0:0", 8, 0 },     { "-3:100:4", 8, 5 },  { "1:2:0", 8, 0 },
        { "", 8, 0 },         { "a", 8, 0 },       { "1:2:3:4", 8, 0 },   { "1,,2", 8, 0 },
        { "4,", 8, 0 },       { "2 3", 8, 0 },     { "1:99999999999999999999", 8, 8 },
        { "-99999999999999999999:4", 8, 4 },       { "10:1", 8, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int got = 0, rc = tern_policy_soft("-soft", cases[i].text, cases[i].most, &got);
        ck_assert_msg(got == cases[i].expected && (rc == 0) == (got > 0),
                      "-soft %s of %d: %d, expected %d", cases[i].text, cases[i].most, got,
                      cases[i].expected);
    }
}
END_TEST

START_TEST(test_quotas)
{
    ck_assert_int_eq(tern_quota_from_max("max 100000\n"), 0);
    ck_assert_int_eq(tern_quota_from_max("200000 100000\n"), 2);
    ck_assert_int_eq(tern_quota_from_max("50000 100000"), 1);
    ck_assert_int_eq(tern_quota_from_max("160000 100000"), 2);
    ck_assert_int_eq(tern_quota_from_max(""), 0);
    ck_assert_int_eq(tern_quota_from_period(-1, 100000), 0);
    ck_assert_int_eq(tern_quota_from_period(400000, 100000), 4);
    ck_assert_int_eq(tern_quota_from_period(400000, 0), 0);
}
END_TEST

static struct tern_host record(const char *description, const char *allowed_list)
{
    hwloc_topology_t topology;
    ck_assert_int_eq(hwloc_topology_init(&topology), 0);
    ck_assert_int_eq(hwloc_topology_set_synthetic(topology, description), 0);
    ck_assert_int_eq(hwloc_topology_load(topology), 0);
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    hwloc_bitmap_list_sscanf(allowed, allowed_list);
    struct tern_host host = { 0 };
    tern_topology_record(topology, allowed, &host);
    hwloc_bitmap_free(allowed);
    hwloc_topology_destroy(topology);
    return host;
}

START_TEST(test_machines)
{
    struct tern_host host = record("package:2 [numa] l3:2 core:4 pu:2", "0-31");
    ck_assert_int_eq(host.cpu_count, 32);
    ck_assert_int_eq(tern_host_objects(&host, TERN_LEVEL_SOCKET), 2);
    ck_assert_int_eq(tern_host_objects(&host, TERN_LEVEL_NUMA), 2);
    ck_assert_int_eq(tern_host_objects(&host, TERN_LEVEL_L3), 4);
    ck_assert_int_eq(tern_host_objects(&host, TERN_LEVEL_CORE), 16);
    ck_assert_int_eq(tern_host_objects(&host, TERN_LEVEL_L2),
                     4); /* none described: the next wider stands for it */
    free(host.cpus);
    /* what affinity leaves is numbered from 0 without holes */
    host = record("package:2 [numa] l3:2 core:4 pu:2", "5,20-23,31");
    ck_assert_int_eq(host.cpu_count, 6);
    ck_assert_int_eq(host.cpus[0].os_index, 5);
    ck_assert_int_eq(tern_host_objects(&host, TERN_LEVEL_CORE), 4);
    ck_assert_int_eq(tern_host_objects(&host, TERN_LEVEL_SOCKET), 2);
    ck_assert_int_eq(host.cpus[1].id[TERN_LEVEL_SOCKET], 1);
    ck_assert_int_eq(host.cpus[1].id[TERN_LEVEL_HWTHREAD], 1);
    free(host.cpus);
    /* neither packages nor cores described */
    host = record("pu:3", "0-2");
    ck_assert_int_eq(tern_host_objects(&host, TERN_LEVEL_CORE), 3);
    ck_assert_int_eq(tern_host_objects(&host, TERN_LEVEL_SOCKET), 1);
    free(host.cpus);
    /* nothing left at all: still something to run on */
    host = record("core:2 pu:1", "");
    ck_assert_int_eq(host.cpu_count, 1);
    free(host.cpus);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parse");
    TCase *all = tcase_create("parse");
    tcase_add_test(all, test_hosts);
    tcase_add_test(all, test_hostfile_lines);
    tcase_add_test(all, test_policies);
    tcase_add_test(all, test_soft_numbers);
    tcase_add_test(all, test_quotas);
    tcase_add_test(all, test_machines);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
