/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines as recorded, what a user asks for, and where the ranks must be. Processors are numbered
 * as on real machines: first one hardware thread of every core, then the second ones. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/base/error.h"
#include "mpirun/plan/map/describe.h"
#include "mpirun/plan/map/map.h"

/* sockets x numa nodes per socket x cores per numa node x hardware threads */
static struct tern_host make_host(int sockets, int numas, int cores, int threads)
{
    enum { CPUS = 1024 }; /* of all hosts of all tests, which share a process under valgrind */
    static struct tern_cpu all_cpus[CPUS];
    static int used;
    struct tern_host host = { .name = "n1", .cpu_count = sockets * numas * cores * threads };
    host.cpus = &all_cpus[used];
    used += host.cpu_count;
    ck_assert_int_le(used, CPUS);
    for (int i = 0; i < host.cpu_count; i++) {
        int core = i / threads, thread = i % threads;
        host.cpus[i].os_index = core + thread * (host.cpu_count / threads);
        host.cpus[i].id[TERN_MAP_LEVEL_HWTHREAD] = i;
        host.cpus[i].id[TERN_MAP_LEVEL_CORE] = host.cpus[i].id[TERN_MAP_LEVEL_L1] =
            host.cpus[i].id[TERN_MAP_LEVEL_L2] = core;
        host.cpus[i].id[TERN_MAP_LEVEL_L3] = host.cpus[i].id[TERN_MAP_LEVEL_NUMA] = core / cores;
        host.cpus[i].id[TERN_MAP_LEVEL_SOCKET] = core / cores / numas;
    }
    return host;
}

static struct tern_map_request ask(void)
{
    static const int unset = 0;
    return (struct tern_map_request){ .np = &unset,
                                      .apps = 1,
                                      .by = TERN_MAP_LEVEL_DEFAULT,
                                      .rank_by = TERN_MAP_LEVEL_DEFAULT,
                                      .bind = TERN_MAP_LEVEL_DEFAULT };
}

/* The processors of each rank, as "0,8 1,9 ..."; "-" for a rank that is not bound. */
static const char *places(const struct tern_map *map)
{
    static char text[4096];
    char *at = text;
    for (int r = 0; r < map->size; r++) {
        const char *comma = "";
        at += sprintf(at, "%s", r ? " " : "");
        if (!map->places[r].bound) {
            at += sprintf(at, "-");
            continue;
        }
        for (int c = 0; c < TERN_MAX_CPUS; c++) {
            if (tern_cpus_has(&map->places[r].cpus, c)) {
                at += sprintf(at, "%s%d", comma, c);
                comma = ",";
            }
        }
    }
    return text;
}

static void expect(const struct tern_host *host, const struct tern_map_request *request,
                   const char *wanted)
{
    struct tern_map map;
    ck_assert_int_eq(tern_map_ranks(request, host, 1, &map), 0);
    ck_assert_str_eq(places(&map), wanted);
    for (int r = 0; r < map.size; r++) {
        ck_assert_int_eq(map.places[r].local_rank, r);
        ck_assert_int_ge(tern_cpus_count(&map.places[r].cpus), 1);
    }
    tern_map_free(&map);
}

static void expect_np(const struct tern_host *host, struct tern_map_request request, int np,
                      const char *wanted)
{
    request.np = &np;
    expect(host, &request, wanted);
}

START_TEST(test_all_slots_without_np)
{
    struct tern_host host = make_host(2, 1, 4, 2);
    struct tern_map_request request = ask();
    struct tern_map map;
    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), 0);
    ck_assert_int_eq(map.size, 8);
    tern_map_free(&map);
    request.hwthreads = true;
    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), 0);
    ck_assert_int_eq(map.size, 16);
    tern_map_free(&map);
    host.slots = 3;
    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), 0);
    ck_assert_int_eq(map.size, 3);
    tern_map_free(&map);
    host.slots = 0;
    host.cpu_limit = 5; /* a control group grants five processors' time */
    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), 0);
    ck_assert_int_eq(map.size, 5);
    tern_map_free(&map);
}
END_TEST

START_TEST(test_defaults)
{
    struct tern_host host = make_host(2, 1, 4, 2);
    struct tern_map_request request = ask();
    expect_np(&host, request, 1, "0,8");
    expect_np(&host, request, 2, "0,8 1,9"); /* by core */
    /* by socket, in turn */
    expect_np(&host, request, 3, "0,1,2,3,8,9,10,11 4,5,6,7,12,13,14,15 0,1,2,3,8,9,10,11");
    /* more than there are cores: not bound */
    expect_np(&host, request, 9, "- - - - - - - - -");
    request.hwthreads = true;
    expect_np(&host, request, 2, "0 8");
}
END_TEST

START_TEST(test_map_by)
{
    struct tern_host host = make_host(2, 2, 2, 1); /* cores 0..7, numa nodes of 2, sockets of 4 */
    struct tern_map_request request = ask();
    request.by = TERN_MAP_LEVEL_CORE;
    expect_np(&host, request, 4, "0 1 2 3");
    request.by = TERN_MAP_LEVEL_NUMA;
    expect_np(&host, request, 5, "0,1 2,3 4,5 6,7 0,1");
    request.by = TERN_MAP_LEVEL_SOCKET;
    expect_np(&host, request, 3, "0,1,2,3 4,5,6,7 0,1,2,3");
    request.bind = TERN_MAP_LEVEL_CORE;
    expect_np(&host, request, 6, "0 4 1 5 2 6");
    request.by = TERN_MAP_LEVEL_SLOT;
    expect_np(&host, request, 3, "0 1 2");
    request.by = TERN_MAP_LEVEL_NODE;
    expect_np(&host, request, 3, "0 1 2");
    request.by = TERN_MAP_LEVEL_CORE;
    request.bind = TERN_MAP_LEVEL_SOCKET; /* the socket around the core */
    expect_np(&host, request, 6, "0,1,2,3 0,1,2,3 0,1,2,3 0,1,2,3 4,5,6,7 4,5,6,7");
    request.bind = TERN_MAP_LEVEL_NONE;
    expect_np(&host, request, 2, "- -");
}
END_TEST

START_TEST(test_several_processors_each)
{
    struct tern_host host = make_host(2, 1, 4, 1);
    struct tern_map_request request = ask();
    request.pe = 2;
    expect_np(&host, request, 4, "0,1 4,5 2,3 6,7");
    request.by = TERN_MAP_LEVEL_CORE;
    expect_np(&host, request, 3, "0,1 2,3 4,5");
    request.by = TERN_MAP_LEVEL_SOCKET;
    expect_np(&host, request, 4, "0,1 4,5 2,3 6,7");
    /* twelve processors wanted, eight there: not bound unless asked for, and then sharing */
    expect_np(&host, request, 6, "- - - - - -");
    request.bind = TERN_MAP_LEVEL_CORE;
    expect_np(&host, request, 6, "0,1 4,5 2,3 6,7 0,1 4,5");
    request.pe = 100; /* all there are */
    expect_np(&host, request, 1, "0,1,2,3,4,5,6,7");
}
END_TEST

START_TEST(test_per_object)
{
    struct tern_host host = make_host(2, 1, 4, 1);
    struct tern_map_request request = ask();
    request.per_object = 2;
    request.per_level = TERN_MAP_LEVEL_SOCKET;
    expect(&host, &request, "0,1,2,3 0,1,2,3 4,5,6,7 4,5,6,7");
    expect_np(&host, request, 3, "0,1,2,3 0,1,2,3 4,5,6,7");
    request.bind = TERN_MAP_LEVEL_CORE;
    expect(&host, &request, "0 1 4 5");
    struct tern_map map;
    int five = 5;
    request.np = &five;
    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), TERN_ERR_ARG);
    ck_assert_str_eq(tern_error_text(TERN_ERR_ARG),
                     "-np is 5, but 2 per socket on 1 host gives 4 ranks");
    /* each program has its own two per node */
    int unset[2] = { 0, 0 };
    request = ask();
    request.np = unset;
    request.apps = 2;
    request.per_object = 2;
    request.per_level = TERN_MAP_LEVEL_NODE;
    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), 0);
    ck_assert_int_eq(map.size, 4);
    ck_assert_int_eq(map.places[2].app, 1);
    ck_assert_int_eq(map.places[2].app_rank, 0);
    tern_map_free(&map);
}
END_TEST

START_TEST(test_binding_shares_evenly)
{
    struct tern_host host = make_host(1, 1, 2, 1);
    struct tern_map_request request = ask();
    request.bind = TERN_MAP_LEVEL_CORE;
    expect_np(&host, request, 5, "0 1 0 1 0");
    request.by = TERN_MAP_LEVEL_SOCKET;
    expect_np(&host, request, 3, "0 1 0");
}
END_TEST

START_TEST(test_rank_by)
{
    struct tern_host host = make_host(2, 1, 4, 1);
    struct tern_map_request request = ask();
    request.by = TERN_MAP_LEVEL_CORE;
    request.bind = TERN_MAP_LEVEL_CORE;
    request.rank_by = TERN_MAP_LEVEL_SOCKET;
    expect_np(&host, request, 8, "0 4 1 5 2 6 3 7");
    request.by = TERN_MAP_LEVEL_SOCKET;
    request.rank_by = TERN_MAP_LEVEL_SLOT;
    expect_np(&host, request, 4, "0 4 1 5");
}
END_TEST

START_TEST(test_odd_machines)
{
    /* a machine of which affinity leaves core 3 of socket 0 and cores 4, 5 of socket 1, renumbered
     * as recorded */
    struct tern_host host = make_host(1, 1, 3, 1);
    host.cpus[0].os_index = 3;
    host.cpus[1].os_index = 4;
    host.cpus[2].os_index = 5;
    for (int level = TERN_MAP_LEVEL_L3; level <= TERN_MAP_LEVEL_SOCKET; level++)
        host.cpus[1].id[level] = host.cpus[2].id[level] = 1;
    struct tern_map_request request = ask();
    expect_np(&host, request, 2, "3 4");
    expect_np(&host, request, 3, "3 4,5 4,5"); /* the small socket is full */
    request.bind = TERN_MAP_LEVEL_CORE;
    expect_np(&host, request, 3, "3 4 5");
    /* a single processor */
    struct tern_host small = make_host(1, 1, 1, 1);
    expect_np(&small, ask(), 1, "0");
    expect_np(&small, ask(), 3, "- - -");
    /* processors beyond what a set can hold are left alone */
    struct tern_cpus set = { 0 };
    tern_cpus_add(&set, TERN_MAX_CPUS);
    tern_cpus_add(&set, -1);
    ck_assert_int_eq(tern_cpus_count(&set), 0);
    tern_cpus_add(&set, TERN_MAX_CPUS - 1);
    ck_assert(tern_cpus_has(&set, TERN_MAX_CPUS - 1) && tern_cpus_count(&set) == 1);
}
END_TEST

START_TEST(test_several_hosts)
{
    struct tern_host hosts[2] = { make_host(1, 1, 2, 1), make_host(1, 1, 4, 1) };
    struct tern_map_request request = ask();
    struct tern_map map;
    int np = 5;
    request.np = &np;
    request.by = TERN_MAP_LEVEL_SLOT;
    ck_assert_int_eq(tern_map_ranks(&request, hosts, 2, &map), 0);
    int by_slot[] = { 0, 0, 1, 1, 1 }, local[] = { 0, 1, 0, 1, 2 };
    for (int r = 0; r < np; r++) {
        ck_assert_int_eq(map.places[r].host, by_slot[r]);
        ck_assert_int_eq(map.places[r].local_rank, local[r]);
    }
    tern_map_free(&map);
    request.by = TERN_MAP_LEVEL_NODE;
    ck_assert_int_eq(tern_map_ranks(&request, hosts, 2, &map), 0);
    int by_node[] = { 0, 1, 0, 1, 1 };
    for (int r = 0; r < np; r++)
        ck_assert_int_eq(map.places[r].host, by_node[r]);
    tern_map_free(&map);
    np = 8; /* two more than slots: each host gets one, next to those that it has */
    request.by = TERN_MAP_LEVEL_SLOT;
    ck_assert_int_eq(tern_map_ranks(&request, hosts, 2, &map), 0);
    int crowd[] = { 0, 0, 0, 1, 1, 1, 1, 1 }, on_first = 0;
    for (int r = 0; r < np; r++)
        on_first += map.places[r].host == 0;
    ck_assert_int_eq(on_first, 3);
    for (int r = 0; r < 6; r++)
        ck_assert_int_eq(map.places[r].host, crowd[r]);
    ck_assert_int_ge(map.crowded_host, 0);
    tern_map_free(&map);
}
END_TEST

static const char *hosts_of(const struct tern_map *map)
{
    static char text[256];
    for (int r = 0; r < map->size; r++)
        text[r] = (char)('a' + map->places[r].host);
    text[map->size] = '\0';
    return text;
}

static void expect_hosts(const struct tern_map_request *request, const struct tern_host *hosts,
                         int count, const char *wanted)
{
    struct tern_map map;
    ck_assert_int_eq(tern_map_ranks(request, hosts, count, &map), 0);
    ck_assert_str_eq(hosts_of(&map), wanted);
    tern_map_free(&map);
}

START_TEST(test_slots_of_hosts)
{
    struct tern_host hosts[3] = { make_host(1, 1, 2, 1), make_host(1, 1, 2, 1), make_host(1, 1, 2, 1) };
    struct tern_map_request request = ask();
    struct tern_map map;
    int np = 0;
    request.np = &np;
    hosts[0].slots = 3;
    hosts[1].slots = 1;
    hosts[2].slots = 2;
    expect_hosts(&request, hosts, 3, "aaabcc");
    np = 4;
    expect_hosts(&request, hosts, 3, "aaab");
    request.span = true;
    expect_hosts(&request, hosts, 3, "aabc");
    request.span = false;
    request.by = TERN_MAP_LEVEL_NODE;
    expect_hosts(&request, hosts, 3, "abca");
    request.rank_by = TERN_MAP_LEVEL_SLOT;
    np = 8;
    request.by = TERN_MAP_LEVEL_SLOT;
    expect_hosts(&request, hosts, 3, "aaaabbcc");
    request.no_oversubscribe = request.over_hosts = true;
    ck_assert_int_eq(tern_map_ranks(&request, hosts, 3, &map), TERN_ERR_ARG);
    ck_assert_str_eq(tern_error_text(TERN_ERR_ARG),
                     "8 ranks on 6 slots, and --oversubscribe was not given\n"
                     "    host  slots  max\n"
                     "    n1        3\n"
                     "    n1        1\n"
                     "    n1        2");
    request.no_oversubscribe = false;
    hosts[0].max_slots = hosts[1].max_slots = hosts[2].max_slots = 3;
    expect_hosts(&request, hosts, 3, "aaabbccc"); /* a is full */
    request.by = TERN_MAP_LEVEL_NODE;
    expect_hosts(&request, hosts, 3, "aaabbbcc"); /* in turn, and numbered by slot */
    request.by = TERN_MAP_LEVEL_SLOT;
    np = 10;
    ck_assert_int_eq(tern_map_ranks(&request, hosts, 3, &map), TERN_ERR_ARG);
    /* per node: as said, unless slots were given and are fewer */
    np = 0;
    request = ask();
    request.np = &np;
    request.per_object = 2;
    request.per_level = TERN_MAP_LEVEL_NODE;
    request.no_oversubscribe = request.over_hosts = true;
    ck_assert_int_eq(tern_map_ranks(&request, hosts, 3, &map), TERN_ERR_ARG);
    hosts[1].slots_implied = true;
    expect_hosts(&request, hosts, 3, "aabbcc");
}
END_TEST

START_TEST(test_words_for_others)
{
    struct tern_host host = make_host(2, 1, 2, 2);
    struct tern_rank_place place = { .bound = true };
    struct tern_cpus back;
    tern_cpus_add(&place.cpus, 1);
    tern_cpus_add(&place.cpus, 5);
    tern_cpus_add(&place.cpus, 6);
    char *text = tern_map_locality(&host, &place);
    ck_assert_str_eq(text, "SK0-1:L30-1:L21-2:L11-2:CR1-2:HT2-3,5:NM0-1");
    free(text);
    text = tern_map_cpuset(&place);
    ck_assert_str_eq(text, "hwloc:1,5-6");
    tern_cpus_read(text, &back);
    ck_assert_mem_eq(&back, &place.cpus, sizeof back);
    free(text);
    tern_cpus_read("hwloc:0-99999999,x", &back);
    ck_assert_int_eq(tern_cpus_count(&back), TERN_MAX_CPUS);
    tern_cpus_read("", &back);
    ck_assert_int_eq(tern_cpus_count(&back), 0);
}
END_TEST

START_TEST(test_refusals)
{
    struct tern_host host = make_host(1, 1, 2, 1);
    struct tern_map_request request = ask();
    struct tern_map map;
    int three = 3, mixed[2] = { 1, 0 }, negative = -2;
    request.np = &three;
    request.no_oversubscribe = true;
    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), TERN_ERR_ARG);
    host.slots = 3;
    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), 0);
    ck_assert_int_eq(map.crowded_ranks, 3);
    ck_assert_int_eq(map.crowded_units, 2);
    tern_map_free(&map);
    request = ask();
    request.np = mixed;
    request.apps = 2;
    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), TERN_ERR_ARG);
    request = ask();
    request.np = &negative;
    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), TERN_ERR_ARG);
}
END_TEST

/* Whatever the machine and the wish, every rank gets processors of its host, the same in every run.
 */
START_TEST(test_everything_maps)
{
    static const enum tern_map_level bys[] = {
        TERN_MAP_LEVEL_DEFAULT, TERN_MAP_LEVEL_SLOT, TERN_MAP_LEVEL_HWTHREAD, TERN_MAP_LEVEL_CORE, TERN_MAP_LEVEL_L2,
        TERN_MAP_LEVEL_L3,      TERN_MAP_LEVEL_NUMA, TERN_MAP_LEVEL_SOCKET,   TERN_MAP_LEVEL_NODE
    };
    static const enum tern_map_level binds[] = { TERN_MAP_LEVEL_DEFAULT,  TERN_MAP_LEVEL_NONE,
                                             TERN_MAP_LEVEL_HWTHREAD, TERN_MAP_LEVEL_CORE,
                                             TERN_MAP_LEVEL_L2,       TERN_MAP_LEVEL_NUMA,
                                             TERN_MAP_LEVEL_SOCKET,   TERN_MAP_LEVEL_NODE };
    for (int shape = 0; shape < 24; shape++) {
        struct tern_host host =
            make_host(1 + shape % 2, 1 + shape / 2 % 2, 1 + shape / 4 % 3, 1 + shape / 12);
        for (int by = 0; by < 9; by++) {
            for (int bind = 0; bind < 8; bind++) {
                for (int np = 1; np <= 13; np += 4) {
                    struct tern_map_request request = ask();
                    struct tern_map map, again;
                    request.np = &np;
                    request.by = bys[by];
                    request.bind = binds[bind];
                    request.pe = np % 3;
                    request.hwthreads = shape % 5 == 0;
                    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), 0);
                    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &again), 0);
                    ck_assert_int_eq(memcmp(map.places, again.places, np * sizeof *map.places), 0);
                    for (int r = 0; r < np; r++) {
                        int count = tern_cpus_count(&map.places[r].cpus), own = 0;
                        for (int c = 0; c < host.cpu_count; c++)
                            own += tern_cpus_has(&map.places[r].cpus, host.cpus[c].os_index);
                        ck_assert_int_ge(count, 1);
                        ck_assert_int_eq(count, own);
                    }
                    tern_map_free(&map);
                    tern_map_free(&again);
                }
            }
        }
    }
}
END_TEST

START_TEST(test_description)
{
    struct tern_host host = make_host(2, 1, 2, 2);
    struct tern_map_request request = ask();
    struct tern_map map;
    int np = 1;
    request.np = &np;
    ck_assert_int_eq(tern_map_ranks(&request, &host, 1, &map), 0);
    char *text = tern_map_describe(&host, &map.places[0]);
    ck_assert_str_eq(text, "socket 0[core 0[hwt 0-1]]: [BB/..][../..]");
    free(text);
    map.places[0].cpus = (struct tern_cpus){ 0 };
    tern_cpus_add(&map.places[0].cpus, 1);
    tern_cpus_add(&map.places[0].cpus, 7);
    text = tern_map_describe(&host, &map.places[0]);
    ck_assert_str_eq(text, "socket 0[core 1[hwt 0]], socket 1[core 3[hwt 1]]: [../B.][../.B]");
    free(text);
    map.places[0].bound = false;
    text = tern_map_describe(&host, &map.places[0]);
    ck_assert_str_eq(text, "not bound (or bound to all available processors)");
    free(text);
    tern_map_free(&map);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("map");
    TCase *all = tcase_create("map");
    tcase_add_test(all, test_all_slots_without_np);
    tcase_add_test(all, test_defaults);
    tcase_add_test(all, test_map_by);
    tcase_add_test(all, test_several_processors_each);
    tcase_add_test(all, test_per_object);
    tcase_add_test(all, test_binding_shares_evenly);
    tcase_add_test(all, test_rank_by);
    tcase_add_test(all, test_odd_machines);
    tcase_add_test(all, test_several_hosts);
    tcase_add_test(all, test_slots_of_hosts);
    tcase_add_test(all, test_words_for_others);
    tcase_add_test(all, test_refusals);
    tcase_add_test(all, test_everything_maps);
    tcase_add_test(all, test_description);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
