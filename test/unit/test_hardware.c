/* SPDX-License-Identifier: BSD-3-Clause */

/* Which part of a node a process is bound to, on a recorded host: two packages of two L3 caches of
 * two cores of two threads, the second thread of core c being processor c + 8. */

#include "lib/rte/hardware.h"
#include "recorded_host.h"
#include "suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS = 16, CORES = 8 };

static char root[] = "/tmp/test_hardware.XXXXXX";

static void record_cache(int cpu, int index, const char *level, const char *type, const char *list)
{
    record(root, level, "sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, index);
    record(root, type, "sys/devices/system/cpu/cpu%d/cache/index%d/type", cpu, index);
    record(root, list, "sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
    record(root, level[0] == '3' ? "2M\n" : "48K\n",
           "sys/devices/system/cpu/cpu%d/cache/index%d/size", cpu, index);
}

static void record_host(void)
{
    for (int cpu = 0; cpu < CPUS; cpu++) {
        int core = cpu % CORES;
        char package[32], l3[32], threads[32];
        snprintf(package, sizeof package, "%d-%d,%d-%d\n", core & ~3, core | 3, (core & ~3) + 8,
                 (core | 3) + 8);
        snprintf(l3, sizeof l3, "%d-%d,%d-%d\n", core & ~1, core | 1, (core & ~1) + 8,
                 (core | 1) + 8);
        snprintf(threads, sizeof threads, "%d,%d\n", core, core + 8);
        if (cpu < CORES) /* the newer name on one half, the older on the other */
            record(root, package, "sys/devices/system/cpu/cpu%d/topology/package_cpus_list", cpu);
        else
            record(root, package, "sys/devices/system/cpu/cpu%d/topology/core_siblings_list", cpu);
        record(root, threads, "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        record_cache(cpu, 0, "1\n", "Instruction\n", "0-15\n");
        record_cache(cpu, 1, "1\n", "Data\n", threads);
        record_cache(cpu, 2, "3\n", "Unified\n", l3);
    }
    record(root, "1-2\n", "sys/devices/system/node/online"); /* numbers have holes */
    record(root, "0-3,8-11\n", "sys/devices/system/node/node1/cpulist");
    record(root, "4-7,12-15\n", "sys/devices/system/node/node2/cpulist");
}

static const struct {
    const char *cpus;
    int32_t package, numa, l3, l1, core, pu;
} bindings[] = {
    {"5", 4, 4, 4, 5, 5, 5},            /* a thread */
    {"13", 4, 4, 4, 5, 5, 13},          /* the other one of the core */
    {"5,13", 4, 4, 4, 5, 5, -1},        /* a core */
    {"2-3", 0, 0, 2, -1, -1, -1},       /* two cores of a cache */
    {"1-2", 0, 0, -1, -1, -1, -1},      /* of two caches */
    {"0-3,8-11", 0, 0, -1, -1, -1, -1}, /* a package */
    {"3-4", -1, -1, -1, -1, -1, -1},    /* of two packages */
    {"0-15", -1, -1, -1, -1, -1, -1},   /* not bound */
};

START_TEST(a_process_is_on_the_part_that_holds_all_its_processors)
{
    int32_t part[TERN_HW_KINDS];
    bool exists[TERN_HW_KINDS];
    tern_rte_hw_places_of(root, bindings[_i].cpus, part, exists);
    ck_assert_int_eq(part[TERN_HW_MACHINE], 0);
    ck_assert_int_eq(part[TERN_HW_PACKAGE], bindings[_i].package);
    ck_assert_int_eq(part[TERN_HW_NUMA], bindings[_i].numa);
    ck_assert_int_eq(part[TERN_HW_L3], bindings[_i].l3);
    ck_assert_int_eq(part[TERN_HW_L2], TERN_HW_NOT_BOUND);
    ck_assert_int_eq(part[TERN_HW_L1], bindings[_i].l1);
    ck_assert_int_eq(part[TERN_HW_CORE], bindings[_i].core);
    ck_assert_int_eq(part[TERN_HW_PU], bindings[_i].pu);
    for (int kind = 0; kind < TERN_HW_KINDS; kind++) /* there is no L2 on this host */
        ck_assert_int_eq(exists[kind], kind != TERN_HW_L2);
}
END_TEST

START_TEST(a_data_cache_has_a_size)
{
    ck_assert_int_eq(tern_rte_hw_cache_bytes(root, 5, 1), 48 << 10);
    ck_assert_int_eq(tern_rte_hw_cache_bytes(root, 5, 2), 0);
    ck_assert_int_eq(tern_rte_hw_cache_bytes(root, 5, 3), 2 << 20);
}
END_TEST

START_TEST(nothing_is_known_without_files)
{
    int32_t part[TERN_HW_KINDS];
    bool exists[TERN_HW_KINDS];
    tern_rte_hw_places_of("/nowhere", "0", part, exists);
    for (int kind = 0; kind < TERN_HW_KINDS; kind++) {
        bool known = kind == TERN_HW_MACHINE || kind == TERN_HW_PU;
        ck_assert_int_eq(exists[kind], known);
        ck_assert_int_eq(part[kind], known ? 0 : TERN_HW_NOT_BOUND);
    }
}
END_TEST

START_TEST(this_process_is_on_this_machine)
{
    int32_t part[TERN_HW_KINDS];
    tern_rte_hw_places("", part, NULL);
    ck_assert_int_eq(part[TERN_HW_MACHINE], 0);
}
END_TEST

START_TEST(names_of_hwloc_and_of_open_mpi_are_known)
{
    enum tern_hw_kind kind;
    for (int k = 0; k < TERN_HW_KINDS; k++) {
        ck_assert(tern_rte_hw_find(tern_rte_hw_name((enum tern_hw_kind)k), &kind));
        ck_assert_int_eq(kind, k);
    }
    ck_assert(tern_rte_hw_find("NUMANode", &kind) && kind == TERN_HW_NUMA);
    ck_assert(tern_rte_hw_find("socket", &kind) && kind == TERN_HW_PACKAGE);
    ck_assert(tern_rte_hw_find("l3cache", &kind) && kind == TERN_HW_L3);
    ck_assert(tern_rte_hw_find("hwthread", &kind) && kind == TERN_HW_PU);
    ck_assert(!tern_rte_hw_find("hwloc://", &kind));
    ck_assert(!tern_rte_hw_find("mpi_shared_memory", &kind));
}
END_TEST

static const struct {
    const char *text;
    bool known;
    int32_t package, numa, l3, l2, core;
} localities[] = {
    {"SK0:L30:L21:L11:CR1:HT1:NM0", true, 0, 0, 0, 1, 1},
    {"NM1:SK1:L32:L24-5:L14-5:CR4-5:HT8-11", true, 1, 1, 2, -1, -1},
    {"SK0-1:CR0-15:HT0-15", true, -1, 0, 0, 0, -1}, /* without the rest, all are in one */
    {"SK3", true, 3, 0, 0, 0, 0},
    {"SK0,2", true, -1, 0, 0, 0, 0},
    {"", false, -1, -1, -1, -1, -1},
    {"nothing:known", false, -1, -1, -1, -1, -1},
};

START_TEST(locality_strings_of_pmix_are_read)
{
    int32_t part[TERN_HW_KINDS];
    ck_assert_int_eq(tern_rte_hw_parse_locality(localities[_i].text, part), localities[_i].known);
    ck_assert_int_eq(part[TERN_HW_MACHINE], localities[_i].known ? 0 : TERN_HW_NOT_BOUND);
    ck_assert_int_eq(part[TERN_HW_PACKAGE], localities[_i].package);
    ck_assert_int_eq(part[TERN_HW_NUMA], localities[_i].numa);
    ck_assert_int_eq(part[TERN_HW_L3], localities[_i].l3);
    ck_assert_int_eq(part[TERN_HW_L2], localities[_i].l2);
    ck_assert_int_eq(part[TERN_HW_CORE], localities[_i].core);
}
END_TEST

int main(void)
{
    if (!mkdtemp(root))
        return 1;
    record_host();
    Suite *suite = suite_create("hardware");
    TCase *tests = suite_case(suite, "hardware");
    tcase_add_loop_test(tests, a_process_is_on_the_part_that_holds_all_its_processors, 0,
                        (int)(sizeof bindings / sizeof *bindings));
    tcase_add_test(tests, a_data_cache_has_a_size);
    tcase_add_test(tests, nothing_is_known_without_files);
    tcase_add_test(tests, this_process_is_on_this_machine);
    tcase_add_test(tests, names_of_hwloc_and_of_open_mpi_are_known);
    tcase_add_loop_test(tests, locality_strings_of_pmix_are_read, 0,
                        (int)(sizeof localities / sizeof *localities));
    int failed = suite_run(suite);
    record_end(root);
    return failed;
}
