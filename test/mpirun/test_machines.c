/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of machines, what a user asks for on them, and where the ranks must be. Every expected map
 * was found by thought from the machine's description. Processors carry the operating system's
 * numbers, as on the real machines: first one hardware thread of every core, then the second ones. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/base/error.h"
#include "mpirun/plan/map/map.h"
#include "mpirun/plan/words/policy.h"
#include "mpirun/plan/hosts/rankfile.h"
#include "mpirun/plan/machine/slots.h"
#include "mpirun/plan/hosts/this_machine.h"

enum machine {
    LAPTOP,
    HYBRID,
    EPYC,
    XEON,
    GPUS,
    CONTAINER,
    SINGLE,
    ARM,
    CLUSTERED,
    TWO_MEMORIES,
    WIDE_NUMA,
    NOTHING_SAID,
    LAKEFIELD,
    EPYC_7451,
    XEON_6230,
    XEON_2680,
    POWER9,
    MAINFRAME,
    OFFLINE,
    GROUPED,
    MACHINES
};

/* What hwloc is told: its synthetic language, or a file of topologies/; and the processors that the
 * control group leaves, NULL: all. */
static const struct {
    const char *description, *allowed;
} machines[MACHINES] = {
    /* core c has threads c and c + 4 */
    [LAPTOP] = { "package:1 [numa] l3:1 l2:4 l1d:1 core:1 pu:2(indexes=2*4:1*2)", NULL },
    /* six cores of two threads, 0-1 to 10-11, and eight of one, 12 to 19, with a cache for each four */
    [HYBRID] = { "hybrid.xml", NULL },
    /* two sockets of four L3 caches of two cores; core c has c and c + 16 */
    [EPYC] = { "package:2 [numa] l3:4 l2:2 core:1 pu:2(indexes=2*16:1*2)", NULL },
    /* even processors are on socket 0, odd ones on socket 1; threads are 12 apart */
    [XEON] = { "package:2 [numa] l3:1 core:6 pu:2(indexes=12*2:2*6:1*2)", NULL },
    /* a node of eight GPUs: two sockets of four NUMA nodes, one near each GPU, of four L3 caches of
     * four cores; core c has c and c + 128 */
    [GPUS] = { "package:2 numa:4 l3:4 core:4 pu:2(indexes=2*128:1*2)", NULL },
    /* of EPYC: core 1 with both threads; 2 and 5 on socket 0; 8 to 11 and 14's second thread on 1 */
    [CONTAINER] = { "package:2 [numa] l3:4 l2:2 core:1 pu:2(indexes=2*16:1*2)", "1-2,5,8-11,17,30" },
    [SINGLE] = { "core:1 pu:1", NULL },
    /* eighty cores without a second thread or an L3 cache, in quadrants */
    [ARM] = { "package:1 numa:4 group:10 l2:2 core:1 pu:1", NULL },
    /* sub-NUMA clusters smaller than the L3 cache, and memory without processors; core c has c, c + 12 */
    [CLUSTERED] = { "[numa] package:2 l3:1 group:2 [numa] core:3 pu:2(indexes=2*12:1*2)", NULL },
    /* two kinds of memory at each cluster: two NUMA nodes with the same processors */
    [TWO_MEMORIES] = { "package:2 group:2 [numa] [numa] core:2 pu:1", NULL },
    /* two sockets in one NUMA node */
    [WIDE_NUMA] = { "group:2 [numa] package:2 core:2 pu:1", NULL },
    [NOTHING_SAID] = { "pu:3", NULL },

    /* recorded on real machines (topologies/README.md) */
    /* four small cores with a cache of their own, and a large one, 4 */
    [LAKEFIELD] = { "lakefield.xml", NULL },
    /* two sockets of eight L3 caches of three cores; core c has c and c + 48 */
    [EPYC_7451] = { "epyc-7451.xml", NULL },
    /* even processors are on socket 0, odd ones on socket 1; threads are 40 apart */
    [XEON_6230] = { "xeon-6230.xml", NULL },
    /* two L3 caches of six cores in each socket; even processors are on socket 0 */
    [XEON_2680] = { "xeon-2680v3.xml", NULL },
    /* cores of four threads, 0-15 on one socket, 88-103 on the other, two cores to a cache; between these numbers those of cores that
     * are switched off */
    [POWER9] = { "power9.xml", NULL },
    /* part of one: 2 drawers of 2 books; processors of their sockets 0-2, 10-12, 3-6, 7-9; 13-14, 15, 16, 17-19 */
    [MAINFRAME] = { "s390.xml", NULL },
    /* four sockets, of whose processors 2, 5, 13 and 14 are off: cores 0,8 4,12; 1,9; 3,11 7,15; 6 10, of sockets 0, 1, 3 and 2 */
    [OFFLINE] = { "offline.xml", NULL },
    /* a control group on a machine of three and more sockets has six processors of the first: 0-3 and 4-5, by L3 */
    [GROUPED] = { "cgroup.xml", NULL },
};

static struct tern_host record(const char *description, const char *allowed_list)
{
    hwloc_topology_t topology;
    struct tern_host host = { .name = "n1" };
    hwloc_bitmap_t allowed = NULL;
    ck_assert_int_eq(hwloc_topology_init(&topology), 0);
    if (strstr(description, ".xml")) {
        char path[512];
        const char *top = getenv("srcdir");
        snprintf(path, sizeof path, "%s/mpirun/topologies/%s", top ? top : ".", description);
        ck_assert_msg(hwloc_topology_set_xml(topology, path) == 0, "hwloc does not read %s", path);
    } else {
        ck_assert_msg(hwloc_topology_set_synthetic(topology, description) == 0,
                      "hwloc does not know \"%s\"", description);
    }
    ck_assert_int_eq(hwloc_topology_load(topology), 0);
    if (allowed_list) {
        allowed = hwloc_bitmap_alloc();
        hwloc_bitmap_list_sscanf(allowed, allowed_list);
    }
    tern_topology_record(topology, allowed, &host);
    hwloc_bitmap_free(allowed);
    hwloc_topology_destroy(topology);
    return host;
}

static struct tern_options ask(const char *map_by, const char *bind_to, const char *rank_by)
{
    struct tern_options options = { .map = { .by = TERN_MAP_LEVEL_DEFAULT,
                                             .rank_by = TERN_MAP_LEVEL_DEFAULT,
                                             .bind = TERN_MAP_LEVEL_DEFAULT,
                                             .apps = 1 } };
    if (map_by)
        ck_assert_int_eq(tern_policy_map_by("--map-by", map_by, &options), 0);
    if (bind_to)
        ck_assert_int_eq(tern_policy_bind_to("--bind-to", bind_to, &options), 0);
    if (rank_by)
        ck_assert_int_eq(tern_policy_rank_by("--rank-by", rank_by, &options), 0);
    return options;
}

static void print_set(FILE *out, const struct tern_cpus *cpus)
{
    const char *comma = "";
    for (int first = 0; first < TERN_MAX_CPUS; first++) {
        int last = first;
        if (!tern_cpus_has(cpus, first))
            continue;
        while (tern_cpus_has(cpus, last + 1))
            last++;
        fprintf(out, last > first ? "%s%d-%d" : "%s%d", comma, first, last);
        comma = ",";
        first = last;
    }
}

/* "0-1,16 2", a word for each rank; "-" for one that is not bound. */
static char *print_map(const struct tern_map *map)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    for (int rank = 0; rank < map->size; rank++) {
        fputs(rank ? " " : "", out);
        if (map->places[rank].bound)
            print_set(out, &map->places[rank].cpus);
        else
            fputc('-', out);
    }
    fclose(out);
    return text;
}

/* np 0: not said */
static const struct {
    enum machine machine;
    int np;
    const char *map_by, *bind_to, *rank_by, *map;
} cases[] = {
    { LAPTOP, 1, NULL, NULL, NULL, "0,4" },
    { LAPTOP, 2, NULL, NULL, NULL, "0,4 1,5" },
    { LAPTOP, 0, NULL, NULL, NULL, "0-7 0-7 0-7 0-7" },
    { LAPTOP, 5, NULL, NULL, NULL, "- - - - -" },
    { LAPTOP, 4, "core", NULL, NULL, "0,4 1,5 2,6 3,7" },
    { LAPTOP, 8, "hwthread", NULL, NULL, "0 4 1 5 2 6 3 7" },
    { LAPTOP, 0, ":HWTCPUS", "hwthread", NULL, "0 4 1 5 2 6 3 7" },
    { LAPTOP, 2, NULL, "hwthread", NULL, "0 1" },
    { LAPTOP, 3, "l2cache", NULL, NULL, "0,4 1,5 2,6" },
    { LAPTOP, 3, "l3cache", NULL, NULL, "0-7 0-7 0-7" },
    { LAPTOP, 3, "numa", NULL, NULL, "0-7 0-7 0-7" },
    { LAPTOP, 3, "node", NULL, NULL, "0-7 0-7 0-7" },
    { LAPTOP, 2, "slot:PE=2", NULL, NULL, "0-1,4-5 2-3,6-7" },
    { LAPTOP, 3, "slot:PE=2", NULL, NULL, "- - -" },
    { LAPTOP, 4, "ppr:2:l2cache", NULL, NULL, "0-7 0-7 0-7 0-7" },
    { LAPTOP, 2, "ppr:1:l2cache", NULL, NULL, "0,4 1,5" },
    { LAPTOP, 4, "ppr:2:l2cache", "l2cache", NULL, "0,4 1,5 2,6 3,7" },
    { LAPTOP, 0, "ppr:2:l2cache", NULL, NULL, "- - - - - - - -" },
    { LAPTOP, 0, "ppr:2:l2cache", "hwthread", NULL, "0 4 1 5 2 6 3 7" },
    { LAPTOP, 2, "core", "none", NULL, "- -" },
    { LAPTOP, 6, "core", "core", NULL, "0,4 1,5 2,6 3,7 0,4 1,5" },

    { HYBRID, 2, NULL, NULL, NULL, "0-1 2-3" },
    { HYBRID, 0, "core", NULL, NULL, "0-1 2-3 4-5 6-7 8-9 10-11 12 13 14 15 16 17 18 19" },
    { HYBRID, 8, "l2cache", NULL, NULL, "0-1 2-3 4-5 6-7 8-9 10-11 12-15 16-19" },
    /* the caches with four cores have room for the next two */
    { HYBRID, 10, "l2cache", NULL, NULL, "0-1 2-3 4-5 6-7 8-9 10-11 12-15 16-19 12-15 16-19" },
    { HYBRID, 14, "slot", "l2cache", NULL,
      "0-1 2-3 4-5 6-7 8-9 10-11 12-15 16-19 12-15 16-19 12-15 16-19 12-15 16-19" },
    { HYBRID, 3, "slot:PE=4", NULL, NULL, "0-7 8-13 14-17" },
    { HYBRID, 9, "hwthread", NULL, NULL, "0 1 2 3 4 5 6 7 8" },
    { HYBRID, 3, "socket", NULL, NULL, "0-19 0-19 0-19" },

    { EPYC, 2, NULL, NULL, NULL, "0,16 1,17" },
    { EPYC, 4, NULL, NULL, NULL, "0-7,16-23 8-15,24-31 0-7,16-23 8-15,24-31" },
    { EPYC, 4, "slot", NULL, NULL, "0-7,16-23 8-15,24-31 0-7,16-23 8-15,24-31" },
    { EPYC, 4, "core", NULL, NULL, "0,16 1,17 2,18 3,19" },
    { EPYC, 9, "l3cache", NULL, NULL,
      "0-1,16-17 2-3,18-19 4-5,20-21 6-7,22-23 8-9,24-25 10-11,26-27 12-13,28-29 14-15,30-31 "
      "0-1,16-17" },
    { EPYC, 4, "l3cache:PE=2", NULL, NULL, "0-1,16-17 2-3,18-19 4-5,20-21 6-7,22-23" },
    { EPYC, 4, "package", "core", NULL, "0,16 8,24 1,17 9,25" },
    { EPYC, 4, "package", "l3cache", NULL, "0-1,16-17 8-9,24-25 2-3,18-19 10-11,26-27" },
    { EPYC, 3, "numa", NULL, NULL, "0-7,16-23 8-15,24-31 0-7,16-23" },
    { EPYC, 3, "core", "l3cache", NULL, "0-1,16-17 0-1,16-17 2-3,18-19" },
    { EPYC, 0, "ppr:1:l3cache", NULL, NULL,
      "0-7,16-23 0-7,16-23 0-7,16-23 0-7,16-23 8-15,24-31 8-15,24-31 8-15,24-31 8-15,24-31" },
    { EPYC, 0, "ppr:1:l3cache", "l3cache", NULL,
      "0-1,16-17 2-3,18-19 4-5,20-21 6-7,22-23 8-9,24-25 10-11,26-27 12-13,28-29 14-15,30-31" },
    { EPYC, 0, "ppr:2:socket:PE=4", NULL, NULL, "0-3,16-19 4-7,20-23 8-11,24-27 12-15,28-31" },
    { EPYC, 5, "slot:PE=3", NULL, NULL,
      "0-2,16-18 3-5,19-21 6-8,22-24 9-11,25-27 12-14,28-30" },
    /* fifteen of sixteen cores: two are left on socket 0, the third comes from socket 1 */
    { EPYC, 5, "socket:PE=3", NULL, NULL,
      "0-2,16-18 8-10,24-26 3-5,19-21 11-13,27-29 6-7,14,22-23,30" },
    { EPYC, 8, "l3cache", "core", "socket", "0,16 8,24 2,18 10,26 4,20 12,28 6,22 14,30" },
    { EPYC, 8, "l3cache", "core", "socket:fill", "0,16 2,18 4,20 6,22 8,24 10,26 12,28 14,30" },
    { EPYC, 4, "socket", NULL, "core", "0-7,16-23 0-7,16-23 8-15,24-31 8-15,24-31" },
    { EPYC, 17, "core", NULL, NULL, "- - - - - - - - - - - - - - - - -" },

    { XEON, 2, NULL, NULL, NULL, "0,12 2,14" },
    { XEON, 3, NULL, NULL, NULL,
      "0,2,4,6,8,10,12,14,16,18,20,22 1,3,5,7,9,11,13,15,17,19,21,23 "
      "0,2,4,6,8,10,12,14,16,18,20,22" },
    { XEON, 4, "socket", "core", NULL, "0,12 1,13 2,14 3,15" },
    { XEON, 4, "hwthread", NULL, NULL, "0 12 2 14" },
    { XEON, 2, "slot:PE=2", NULL, NULL, "0,2,12,14 4,6,16,18" },
    { XEON, 2, "slot:PE=3:HWTCPUS", NULL, NULL, "0,2,12 4,14,16" },
    { XEON, 2, "core:PE=2:HWTCPUS", "core", NULL, "0,12 2,14" },
    { XEON, 7, "core", "core", "socket", "0,12 1,13 2,14 4,16 6,18 8,20 10,22" },

    { GPUS, 8, "numa:PE=16", NULL, NULL,
      "0-15,128-143 16-31,144-159 32-47,160-175 48-63,176-191 64-79,192-207 80-95,208-223 "
      "96-111,224-239 112-127,240-255" },
    { GPUS, 0, "ppr:1:numa", NULL, NULL,
      "0-15,128-143 16-31,144-159 32-47,160-175 48-63,176-191 64-79,192-207 80-95,208-223 "
      "96-111,224-239 112-127,240-255" },
    { GPUS, 0, "ppr:4:package", "numa", NULL,
      "0-15,128-143 16-31,144-159 32-47,160-175 48-63,176-191 64-79,192-207 80-95,208-223 "
      "96-111,224-239 112-127,240-255" },
    { GPUS, 8, "numa", "core", NULL, "0,128 16,144 32,160 48,176 64,192 80,208 96,224 112,240" },
    { GPUS, 3, "l3cache", NULL, NULL, "0-3,128-131 4-7,132-135 8-11,136-139" },
    { GPUS, 3, NULL, NULL, NULL, "0-15,128-143 16-31,144-159 32-47,160-175" },
    { GPUS, 3, "slot", NULL, NULL, "0-15,128-143 16-31,144-159 32-47,160-175" },
    { GPUS, 3, "ppr:2:socket", NULL, NULL, "0-15,128-143 16-31,144-159 64-79,192-207" },
    { GPUS, 3, ":PE=2", NULL, NULL, "0-1,128-129 64-65,192-193 2-3,130-131" },
    { GPUS, 2, ":PE=2", NULL, NULL, "0-1,128-129 64-65,192-193" },
    { GPUS, 2, NULL, NULL, NULL, "0,128 1,129" },
    { GPUS, 4, NULL, "core", NULL, "0,128 16,144 32,160 48,176" },
    { GPUS, 4, "socket:PE=1", NULL, NULL, "0,128 64,192 1,129 65,193" },
    { GPUS, 4, "slot:PE=1", NULL, NULL, "0,128 1,129 2,130 3,131" },
    { GPUS, 4, "node:PE=1", NULL, NULL, "0,128 1,129 2,130 3,131" },
    { GPUS, 4, "ppr:2:socket:PE=1", NULL, NULL, "0,128 1,129 64,192 65,193" },

    { CONTAINER, 2, NULL, NULL, NULL, "1,17 2" },
    { CONTAINER, 8, "core", NULL, NULL, "1,17 2 5 8 9 10 11 30" },
    /* three cores on one socket and five on the other: as many ranks */
    { CONTAINER, 0, NULL, NULL, NULL,
      "1-2,5,17 8-11,30 1-2,5,17 8-11,30 1-2,5,17 8-11,30 8-11,30 8-11,30" },
    { CONTAINER, 8, "socket", "core", NULL, "1,17 8 2 9 5 10 11 30" },
    { CONTAINER, 6, "l3cache", NULL, NULL, "1,17 2 5 8-9 10-11 30" },
    { CONTAINER, 3, "slot:PE=2", NULL, NULL, "1-2,17 5,8 9-10" },
    { CONTAINER, 2, "socket:PE=3", NULL, NULL, "1-2,5,17 8-10" },
    { CONTAINER, 9, "core", NULL, NULL, "- - - - - - - - -" },
    { CONTAINER, 9, "core", "core", NULL, "1,17 2 5 8 9 10 11 30 1,17" },

    { SINGLE, 1, NULL, NULL, NULL, "0" },
    { SINGLE, 3, NULL, NULL, NULL, "- - -" },
    { SINGLE, 3, "socket", "core", NULL, "0 0 0" },
    { SINGLE, 0, "ppr:2:numa", NULL, NULL, "- -" },
    { SINGLE, 1, "slot:PE=4", NULL, NULL, "-" },
    { SINGLE, 1, "slot:PE=4", "core", NULL, "0" },

    { ARM, 3, NULL, NULL, NULL, "0-19 20-39 40-59" },
    { ARM, 3, "core", NULL, NULL, "0 1 2" },
    { ARM, 3, "hwthread", NULL, NULL, "0 1 2" },
    { ARM, 3, "l2cache", NULL, NULL, "0 1 2" },
    { ARM, 5, "numa", NULL, NULL, "0-19 20-39 40-59 60-79 0-19" },
    { ARM, 2, "l3cache", NULL, NULL, "0-19 20-39" }, /* none: what is around it stands for it */
    { ARM, 5, "slot:PE=16", NULL, NULL, "0-15 16-31 32-47 48-63 64-79" },
    { ARM, 4, "numa:PE=20", NULL, NULL, "0-19 20-39 40-59 60-79" },

    { CLUSTERED, 4, "numa", NULL, NULL, "0-2,12-14 3-5,15-17 6-8,18-20 9-11,21-23" },
    { CLUSTERED, 3, "l3cache", NULL, NULL, "0-5,12-17 6-11,18-23 0-5,12-17" },
    { CLUSTERED, 4, "l3cache", "numa", NULL, "0-2,12-14 6-8,18-20 3-5,15-17 9-11,21-23" },
    { CLUSTERED, 4, "socket", "numa", NULL, "0-2,12-14 6-8,18-20 3-5,15-17 9-11,21-23" },
    { CLUSTERED, 3, "numa", "l3cache", NULL, "0-5,12-17 0-5,12-17 6-11,18-23" },
    { CLUSTERED, 0, "ppr:1:numa:PE=3", NULL, NULL, "0-2,12-14 3-5,15-17 6-8,18-20 9-11,21-23" },

    { TWO_MEMORIES, 5, "numa", NULL, NULL, "0-1 2-3 4-5 6-7 0-1" },
    { TWO_MEMORIES, 0, "ppr:1:numa", NULL, NULL, "0-1 2-3 4-5 6-7" },

    { WIDE_NUMA, 3, "numa", NULL, NULL, "0-3 4-7 0-3" },
    { WIDE_NUMA, 4, "numa", "socket", NULL, "0-1 4-5 2-3 6-7" },
    { WIDE_NUMA, 3, "socket", "numa", NULL, "0-3 0-3 4-7" },
    { WIDE_NUMA, 4, "socket", NULL, NULL, "0-1 2-3 4-5 6-7" },

    { NOTHING_SAID, 3, "core", NULL, NULL, "0 1 2" },
    { NOTHING_SAID, 3, NULL, NULL, NULL, "0-2 0-2 0-2" },

    { LAKEFIELD, 0, "core", NULL, NULL, "0 1 2 3 4" },
    { LAKEFIELD, 3, "l2cache", NULL, NULL, "0-3 4 0-3" },
    { LAKEFIELD, 2, "slot:PE=2", NULL, NULL, "0-1 2-3" },
    { LAKEFIELD, 0, "ppr:1:l2cache", NULL, NULL, "0 4" },

    { EPYC_7451, 2, NULL, NULL, NULL, "0,48 1,49" },
    { EPYC_7451, 3, NULL, NULL, NULL, "0-23,48-71 24-47,72-95 0-23,48-71" },
    { EPYC_7451, 3, "l3cache", NULL, NULL, "0-2,48-50 3-5,51-53 6-8,54-56" },
    { EPYC_7451, 4, "package", "l3cache", NULL, "0-2,48-50 24-26,72-74 3-5,51-53 27-29,75-77" },
    { EPYC_7451, 2, "slot:PE=4", NULL, NULL, "0-3,48-51 4-7,52-55" },
    { EPYC_7451, 0, "ppr:1:package:PE=24", NULL, NULL, "0-23,48-71 24-47,72-95" },

    { XEON_6230, 2, NULL, NULL, NULL, "0,40 2,42" },
    { XEON_6230, 4, "socket", "core", NULL, "0,40 1,41 2,42 3,43" },
    { XEON_6230, 2, "slot:PE=3", NULL, NULL, "0,2,4,40,42,44 6,8,10,46,48,50" },
    { XEON_6230, 4, "hwthread", NULL, NULL, "0 40 2 42" },

    { XEON_2680, 5, "l3cache", NULL, NULL,
      "0,2,4,6,8,10 12,14,16,18,20,22 1,3,5,7,9,11 13,15,17,19,21,23 0,2,4,6,8,10" },
    { XEON_2680, 2, "slot:PE=7", NULL, NULL, "0,2,4,6,8,10,12 1,3,14,16,18,20,22" },
    { XEON_2680, 4, "l3cache", "core", NULL, "0 12 1 13" },

    { POWER9, 0, "ppr:1:numa", NULL, NULL, "0-3 88-91" },
    { POWER9, 0, "ppr:2:numa", NULL, NULL, "0-15 0-15 88-103 88-103" },
    { POWER9, 4, "numa", "core", NULL, "0-3 88-91 4-7 92-95" },
    { POWER9, 5, "l3cache", NULL, NULL, "0-7 8-15 88-95 96-103 0-7" },
    { POWER9, 2, "slot:PE=3", NULL, NULL, "0-11 12-15,88-95" },
    { POWER9, 6, "hwthread", NULL, NULL, "0 1 2 3 4 5" },

    { MAINFRAME, 9, "socket", NULL, NULL, "0-2 10-12 3-6 7-9 13-14 15 16 17-19 0-2" },
    { MAINFRAME, 5, "core", NULL, NULL, "0 1 2 10 11" },
    { MAINFRAME, 3, "slot:PE=4", NULL, NULL, "0-2,10 3-4,11-12 5-8" },

    { OFFLINE, 0, "core", NULL, NULL, "0,8 4,12 1,9 3,11 7,15 6 10" },
    { OFFLINE, 4, "socket", NULL, NULL, "0,4,8,12 1,9 3,7,11,15 6,10" },
    { OFFLINE, 5, "socket", "core", NULL, "0,8 1,9 3,11 6 4,12" },
    { OFFLINE, 2, "slot:PE=2", NULL, NULL, "0,4,8,12 1,3,9,11" },
    { OFFLINE, 7, "hwthread", NULL, NULL, "0 8 4 12 1 9 3" },

    { GROUPED, 0, "core", NULL, NULL, "0 1 2 3 4 5" },
    { GROUPED, 3, "numa", NULL, NULL, "0-3 4-5 0-3" },
    { GROUPED, 0, "ppr:1:l3cache", NULL, NULL, "0 4" },
    { GROUPED, 0, "ppr:1:package", NULL, NULL, "0" },
    { GROUPED, 7, "core", NULL, NULL, "- - - - - - -" },
};

START_TEST(test_maps)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tern_host host =
            record(machines[cases[i].machine].description, machines[cases[i].machine].allowed);
        struct tern_options options = ask(cases[i].map_by, cases[i].bind_to, cases[i].rank_by);
        struct tern_map map;
        options.map.np = &cases[i].np;
        int error = tern_map_ranks(&options.map, &host, 1, &map);
        char *text = error ? NULL : print_map(&map);
        if (error || strcmp(text, cases[i].map)) {
            printf("%s, np %d, map by %s, bind to %s, rank by %s:\n   got %s\nwanted %s\n",
                   machines[cases[i].machine].description, cases[i].np, cases[i].map_by,
                   cases[i].bind_to, cases[i].rank_by, error ? tern_error_text(error) : text,
                   cases[i].map);
            wrong++;
        }
        free(text);
        if (!error)
            tern_map_free(&map);
        free(host.cpus);
    }
    ck_assert_int_eq(wrong, 0);
}
END_TEST

/* A control group's share of time counts as so many cores. */
START_TEST(test_limited_time)
{
    struct tern_host host = record(machines[EPYC].description, NULL);
    struct tern_options options = ask(NULL, NULL, NULL);
    struct tern_map map;
    int np = 0;
    host.cpu_limit = 2;
    options.map.np = &np;
    ck_assert_int_eq(tern_map_ranks(&options.map, &host, 1, &map), 0);
    char *text = print_map(&map);
    ck_assert_str_eq(text, "0,16 1,17");
    free(text);
    tern_map_free(&map);
    np = 3;
    ck_assert_int_eq(tern_map_ranks(&options.map, &host, 1, &map), 0);
    text = print_map(&map);
    ck_assert_str_eq(text, "- - -");
    free(text);
    tern_map_free(&map);
    free(host.cpus);
}
END_TEST

/* What a rankfile may say of a rank's processors. */
START_TEST(test_slots)
{
    static const struct {
        enum machine machine;
        bool hwthreads;
        const char *slots, *cpus, *sentence; /* either */
    } lists[] = {
        { EPYC, false, "0", "0,16", NULL },
        { EPYC, false, "0-3", "0-3,16-19", NULL },
        { EPYC, false, "0,2-3,15", "0,2-3,15-16,18-19,31", NULL },
        { EPYC, false, "*", "0-31", NULL },
        { EPYC, false, "1:0-1", "8-9,24-25", NULL },
        { EPYC, false, "1:0,7", "8,15,24,31", NULL },
        { EPYC, false, "1:*", "8-15,24-31", NULL },
        { EPYC, false, "0:6-7,1:0", "6-8,22-24", NULL },
        { EPYC, false, "0:1;1:0-2", "1,8-10,17,24-26", NULL },
        { EPYC, false, "1:0;1", "1,8,17,24", NULL }, /* after a semicolon: the host's core 1 */
        { EPYC, false, "p17", "1,17", NULL },
        { EPYC, false, "P:1,30-31", "1,14-15,17,30-31", NULL },
        { EPYC, true, "0-2", "0-1,16", NULL },
        { EPYC, true, "1:1", "24", NULL },
        { EPYC, true, "p17", "17", NULL },
        { XEON, false, "1:0,5", "1,11,13,23", NULL },
        { CONTAINER, false, "0-1", "1-2,17", NULL }, /* of those that may be used */
        { CONTAINER, false, "1:4", "30", NULL },
        { CONTAINER, false, "p5", "5", NULL },
        { SINGLE, false, "0:0", "0", NULL },
        { WIDE_NUMA, false, "3:1", "7", NULL },

        { EPYC, false, "16", NULL, "f, line 1: host n1 has no usable core 16" },
        { EPYC, false, "14-20", NULL, "f, line 1: host n1 has no usable core 16" },
        { EPYC, false, "1:8", NULL, "f, line 1: socket 1 of host n1 has no usable core 8" },
        { EPYC, false, "2:0", NULL, "f, line 1: host n1 has 2 usable sockets, but no socket 2" },
        { EPYC, false, "2:*", NULL, "f, line 1: host n1 has 2 usable sockets, but no socket 2" },
        { EPYC, true, "32", NULL, "f, line 1: host n1 has no usable hardware thread 32" },
        { EPYC, false, "p32", NULL, "f, line 1: host n1 has no usable processor 32" },
        { CONTAINER, false, "p3", NULL, "f, line 1: host n1 has no usable processor 3" },
        { SINGLE, false, "99999999999999999999", NULL,
          "f, line 1: host n1 has no usable core 4096" },
    };
    static const char *const bad[] = { "",     ",",   "0,",   "x",     "1-",  "3-1", "1:",   ":1", "1:2:3",
                                       "1;;2", "0-*", "*:0", "p1:0", "p*",  "p",   "1 2", "-1",  "1-2-3" };
    struct tern_cpus cpus;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct tern_host host =
            record(machines[lists[i].machine].description, machines[lists[i].machine].allowed);
        int error = tern_slots_find(&host, lists[i].slots, lists[i].hwthreads, "f, line 1", &cpus);
        char text[256] = "";
        if (!error) {
            FILE *out = fmemopen(text, sizeof text, "w");
            print_set(out, &cpus);
            fclose(out);
        }
        ck_assert_str_eq(error ? tern_error_text(error) : text,
                         lists[i].cpus ? lists[i].cpus : lists[i].sentence);
        ck_assert_int_eq(error, lists[i].cpus ? 0 : TERN_ERR_ARG);
        free(host.cpus);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(tern_slots_find(NULL, bad[i], false, "f", &cpus) == TERN_ERR_ARG,
                      "\"%s\" is accepted", bad[i]);
}
END_TEST

/* ---- what holds on any machine ---- */

static unsigned seed;

static int below(int limit)
{
    seed = seed * 1103515245u + 12345u;
    return (int)((seed >> 8) % (unsigned)limit);
}

/* Sockets, clusters, caches and cores of random sizes; some of its processors allowed. */
static struct tern_host random_host(void)
{
    char text[200], allowed[2000] = "";
    int sockets = 1 + below(3), numas = 1 + below(3), caches = 1 + below(3), cores = 1 + below(4),
        threads = 1 + below(2);
    snprintf(text, sizeof text, below(2) ? "package:%d numa:%d l3:%d core:%d pu:%d"
                                         : "package:%d l3:%d group:%d [numa] core:%d pu:%d",
             sockets, numas, caches, cores, threads);
    int all = sockets * numas * caches * cores * threads, length = 0;
    bool holes = below(2);
    for (int cpu = 0; cpu < all; cpu++) {
        if (!holes || below(3) || cpu == all - 1)
            length += snprintf(allowed + length, sizeof allowed - (size_t)length, "%s%d",
                               length ? "," : "", cpu);
    }
    struct tern_host host = record(text, allowed);
    host.slots = below(3) ? 0 : 1 + below(6);
    host.max_slots = host.slots && below(2) ? host.slots + below(3) : 0;
    host.cpu_limit = below(4) ? 0 : 1 + below(4);
    return host;
}

static const char *random_words(char *words, size_t room)
{
    static const char *const objects[] = { "slot",    "hwthread", "core",   "l1cache",
                                           "l2cache", "l3cache",  "numa",   "socket",
                                           "node",    "",         "package" };
    const char *object = objects[below(11)];
    if (*object && strcmp(object, "slot") && below(4) == 0)
        snprintf(words, room, "ppr:%d:%s", 1 + below(3), object);
    else
        snprintf(words, room, "%s", object);
    size_t length = strlen(words);
    if (below(3) == 0)
        length += (size_t)snprintf(words + length, room - length, ":PE=%d", 1 + below(4));
    if (below(4) == 0)
        length += (size_t)snprintf(words + length, room - length, ":SPAN");
    if (below(4) == 0)
        length += (size_t)snprintf(words + length, room - length, ":HWTCPUS");
    if (below(3) == 0)
        snprintf(words + length, room - length, ":NOOVERSUBSCRIBE");
    return words;
}

static void check_host(const struct tern_map_request *request, const struct tern_host *host,
                       const struct tern_map *map, int h)
{
    int ranks = 0, local = 0, pe = request->pe > 1 ? request->pe : 1;
    struct tern_cpus taken = { 0 };
    int64_t sum = 0;
    /* (by hwthread and bound to core, two ranks may sit at one core's threads) */
    bool alone = map->bind <= TERN_MAP_LEVEL_CORE && map->by >= map->bind;
    for (int r = 0; r < map->size; r++)
        ranks += map->places[r].host == h;
    alone = alone && (int64_t)ranks * pe <= tern_host_objects(host, map->bind);
    for (int r = 0; r < map->size; r++) {
        const struct tern_rank_place *place = &map->places[r];
        int own = 0;
        if (place->host != h)
            continue;
        alone &= place->bound; /* more ranks than slots are not bound */
        ck_assert_int_eq(place->local_rank, local++);
        for (int c = 0; c < host->cpu_count; c++)
            own += tern_cpus_has(&place->cpus, host->cpus[c].os_index);
        /* never none, and never what the control group does not leave */
        ck_assert_int_ge(own, 1);
        ck_assert_int_eq(own, tern_cpus_count(&place->cpus));
        ck_assert(place->bound || own == host->cpu_count);
        sum += own;
        for (int i = 0; i < TERN_MAX_CPUS / 64; i++)
            taken.bits[i] |= place->cpus.bits[i];
    }
    /* who is bound to cores shares none if there are enough */
    ck_assert_msg(!alone || sum == tern_cpus_count(&taken),
                  "%d ranks with %d of the %d %ss of a host share some", ranks, pe,
                  tern_host_objects(host, map->bind), tern_map_level_name(map->bind));
    if (host->max_slots)
        ck_assert_int_le(ranks, host->max_slots);
    if (request->no_oversubscribe)
        ck_assert_int_le(ranks, tern_host_slots(host, request->hwthreads));
}

START_TEST(test_anything_maps)
{
    static const char *const binds[] = { "none",    "hwthread", "core",   "l2cache",
                                         "l3cache", "numa",     "socket", NULL };
    static const char *const ranks[] = { "slot", "core", "numa", "socket", "node", NULL, NULL, NULL };
    int mapped = 0;
    for (seed = 1; seed <= 3000;) {
        unsigned begin = seed;
        struct tern_host hosts[4];
        int count = 1 + below(4), np = below(3) ? 1 + below(40) : 0;
        char words[100];
        for (int h = 0; h < count; h++)
            hosts[h] = random_host();
        random_words(words, sizeof words);
        struct tern_options options = ask(words, binds[below(8)], ranks[below(8)]);
        struct tern_map map, again;
        options.map.np = &np;
        int error = tern_map_ranks(&options.map, hosts, count, &map);
        /* what is refused is refused for lack of room, nothing else */
        if (error) {
            const char *said = tern_error_text(error);
            ck_assert_msg(strstr(said, " slot") || strstr(said, "at most") || strstr(said, " gives "),
                          "%u: %s: %s", begin, words, said);
        } else {
            mapped++;
            ck_assert(np == 0 || map.size == np);
            ck_assert_int_eq(tern_map_ranks(&options.map, hosts, count, &again), 0);
            ck_assert_int_eq(map.size, again.size);
            ck_assert_mem_eq(map.places, again.places, map.size * sizeof *map.places);
            for (int r = 0; r < map.size; r++) {
                ck_assert(map.places[r].host >= 0 && map.places[r].host < count);
                ck_assert_int_eq(map.places[r].app_rank, r);
            }
            for (int h = 0; h < count; h++)
                check_host(&options.map, &hosts[h], &map, h);
            tern_map_free(&map);
            tern_map_free(&again);
        }
        for (int h = 0; h < count; h++)
            free(hosts[h].cpus);
        seed = begin + 1;
    }
    ck_assert_int_ge(mapped, 1500);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("machines");
    TCase *all = tcase_create("machines");
    tcase_add_test(all, test_maps);
    tcase_add_test(all, test_limited_time);
    tcase_add_test(all, test_slots);
    tcase_add_test(all, test_anything_maps);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
