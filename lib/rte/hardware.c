/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Lists below /sys/devices/system say which processors form a package, a cache or a core. A process
 * is on such a part if all processors on which it may run belong to the part. A process with a
 * wider binding is on no part of that kind.
 */

#include "lib/rte/hardware.h"

#include "lib/rte/pmix_client.h"
#include "lib/rte/rte.h"
#include "lib/util/base/read_line.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CPUS_MAX = 8192, WORDS = CPUS_MAX / 64, CACHES_MAX = 16, PATH_ROOM = 4096 };

struct cpus {
    uint64_t words[WORDS];
};

static const struct {
    const char *name, *other; /* hwloc's and Open MPI's */
    const char *locality;     /* in PMIx's locality strings */
} kinds[TERN_HW_KINDS] = {
    [TERN_HW_MACHINE] = {"hwloc://Machine", "host", NULL},
    [TERN_HW_PACKAGE] = {"hwloc://Package", "socket", "SK"},
    [TERN_HW_NUMA] = {"hwloc://NUMANode", "numa", "NM"},
    [TERN_HW_L3] = {"hwloc://L3Cache", "l3", "L3"},
    [TERN_HW_L2] = {"hwloc://L2Cache", "l2", "L2"},
    [TERN_HW_L1] = {"hwloc://L1Cache", "l1", "L1"},
    [TERN_HW_CORE] = {"hwloc://Core", "core", "CR"},
    [TERN_HW_PU] = {"hwloc://PU", "hwthread", "HT"},
};

const char *tern_rte_hw_name(enum tern_hw_kind kind)
{
    return kinds[kind].name;
}

bool tern_rte_hw_find(const char *name, enum tern_hw_kind *ret_kind)
{
    for (int kind = 0; kind < TERN_HW_KINDS; kind++) {
        const char *bare = strstr(kinds[kind].name, "://") + 3;
        if (strcasecmp(name, kinds[kind].name) == 0 || strcasecmp(name, bare) == 0 ||
            strcasecmp(name, kinds[kind].other) == 0) {
            *ret_kind = (enum tern_hw_kind)kind;
            return true;
        }
    }
    return false;
}

/* ---- sets of processors ---- */

static void set(struct cpus *cpus, long cpu)
{
    if (cpu >= 0 && cpu < CPUS_MAX)
        cpus->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

static bool has(const struct cpus *cpus, long cpu)
{
    return cpu >= 0 && cpu < CPUS_MAX && cpus->words[cpu / 64] >> (cpu % 64) & 1;
}

/* Returns the lowest processor of the set, or TERN_HW_NOT_BOUND if the set is empty. */
static int32_t first(const struct cpus *cpus)
{
    for (int i = 0; i < WORDS; i++)
        if (cpus->words[i])
            return i * 64 + __builtin_ctzll(cpus->words[i]);
    return TERN_HW_NOT_BOUND;
}

static bool within(const struct cpus *inner, const struct cpus *outer)
{
    for (int i = 0; i < WORDS; i++)
        if (inner->words[i] & ~outer->words[i])
            return false;
    return true;
}

/* Reads a list such as "0-3,8". */
static void parse_list(const char *at, struct cpus *ret_cpus)
{
    memset(ret_cpus, 0, sizeof *ret_cpus);
    while (*at >= '0' && *at <= '9') {
        char *end;
        long from = strtol(at, &end, 10), to = from;
        if (*end == '-')
            to = strtol(end + 1, &end, 10);
        for (long cpu = from; cpu <= to && cpu < CPUS_MAX; cpu++)
            set(ret_cpus, cpu);
        at = *end == ',' ? end + 1 : end;
    }
}

static bool read_list(const char *path, struct cpus *ret_cpus)
{
    char line[PATH_ROOM];
    if (!tern_read_line(path, line, sizeof line))
        return false;
    parse_list(line, ret_cpus);
    return true;
}

static void own_cpus(struct cpus *ret_cpus)
{
    memset(ret_cpus, 0, sizeof *ret_cpus);
    if (sched_getaffinity(0, sizeof *ret_cpus, (cpu_set_t *)ret_cpus) != 0)
        memset(ret_cpus, 0, sizeof *ret_cpus); /* unknown: on no part */
}

/* ---- the part around a processor ---- */

/* Finds the directory of the data cache of level `level` that `cpu` uses. Returns false if there is
 * none. */
static bool find_cache(const char *root, int cpu, int level, char directory[PATH_ROOM])
{
    char path[PATH_ROOM + 32], line[32];
    for (int index = 0; index < CACHES_MAX; index++) {
        snprintf(directory, PATH_ROOM, "%s/sys/devices/system/cpu/cpu%d/cache/index%d", root, cpu,
                 index);
        snprintf(path, sizeof path, "%s/level", directory);
        if (!tern_read_line(path, line, sizeof line))
            return false;
        if (atoi(line) != level)
            continue;
        snprintf(path, sizeof path, "%s/type", directory);
        if (tern_read_line(path, line, sizeof line) && line[0] != 'I') /* I: an instruction cache */
            return true;
    }
    return false;
}

/* Finds the processors that share the data cache of level `level` with `cpu`. */
static bool around_cache(const char *root, int cpu, int level, struct cpus *ret_cpus)
{
    char directory[PATH_ROOM], path[PATH_ROOM + 32];
    if (!find_cache(root, cpu, level, directory))
        return false;
    snprintf(path, sizeof path, "%s/shared_cpu_list", directory);
    return read_list(path, ret_cpus);
}

int64_t tern_rte_hw_cache_bytes(const char *root, int cpu, int level)
{
    char directory[PATH_ROOM], path[PATH_ROOM + 32], line[32], unit = 'K';
    long long size;
    if (!find_cache(root, cpu, level, directory))
        return 0;
    snprintf(path, sizeof path, "%s/size", directory);
    if (!tern_read_line(path, line, sizeof line) || sscanf(line, "%lld%c", &size, &unit) < 1 ||
        size < 0)
        return 0;
    return size << (unit == 'M' ? 20 : 10);
}

static bool around_numa(const char *root, int cpu, struct cpus *ret_cpus)
{
    char path[PATH_ROOM];
    struct cpus nodes;
    snprintf(path, sizeof path, "%s/sys/devices/system/node/online", root);
    if (!read_list(path, &nodes))
        return false;
    for (int node = 0; node < CPUS_MAX; node++) {
        if (!has(&nodes, node))
            continue;
        snprintf(path, sizeof path, "%s/sys/devices/system/node/node%d/cpulist", root, node);
        if (read_list(path, ret_cpus) && has(ret_cpus, cpu))
            return true;
    }
    return false;
}

/* Reads a list of topology by its new or its old name. Newer kernels have both. */
static bool around_topology(const char *root, int cpu, const char *name, const char *old_name,
                            struct cpus *ret_cpus)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/topology/%s", root, cpu, name);
    if (read_list(path, ret_cpus))
        return true;
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/topology/%s", root, cpu, old_name);
    return read_list(path, ret_cpus);
}

/* Finds the processors of the part of this kind to which `cpu` belongs. Returns false if there is
 * none. */
static bool around(const char *root, enum tern_hw_kind kind, int cpu, struct cpus *ret_cpus)
{
    switch (kind) {
    case TERN_HW_MACHINE:
        memset(ret_cpus, 0xff, sizeof *ret_cpus);
        return true;
    case TERN_HW_PACKAGE:
        return around_topology(root, cpu, "package_cpus_list", "core_siblings_list", ret_cpus);
    case TERN_HW_NUMA:
        return around_numa(root, cpu, ret_cpus);
    case TERN_HW_L3:
        return around_cache(root, cpu, 3, ret_cpus);
    case TERN_HW_L2:
        return around_cache(root, cpu, 2, ret_cpus);
    case TERN_HW_L1:
        return around_cache(root, cpu, 1, ret_cpus);
    case TERN_HW_CORE:
        return around_topology(root, cpu, "core_cpus_list", "thread_siblings_list", ret_cpus);
    case TERN_HW_PU:
        memset(ret_cpus, 0, sizeof *ret_cpus);
        set(ret_cpus, cpu);
        return true;
    case TERN_HW_KINDS:
        break;
    }
    return false;
}

static void find_places(const char *root, const struct cpus *mine, int32_t ret_part[],
                        bool ret_exists[])
{
    int cpu = first(mine);
    for (int kind = 0; kind < TERN_HW_KINDS; kind++) {
        struct cpus part;
        bool exists = cpu >= 0 && around(root, (enum tern_hw_kind)kind, cpu, &part);
        ret_part[kind] = exists && within(mine, &part) ? first(&part) : TERN_HW_NOT_BOUND;
        if (ret_exists)
            ret_exists[kind] = exists;
    }
}

void tern_rte_hw_places(const char *root, int32_t ret_part[TERN_HW_KINDS],
                        bool ret_exists[TERN_HW_KINDS])
{
    struct cpus mine;
    own_cpus(&mine);
    find_places(root, &mine, ret_part, ret_exists);
}

void tern_rte_hw_places_of(const char *root, const char *cpus, int32_t ret_part[TERN_HW_KINDS],
                           bool ret_exists[TERN_HW_KINDS])
{
    struct cpus mine;
    parse_list(cpus, &mine);
    find_places(root, &mine, ret_part, ret_exists);
}

/* ---- the launcher's binding ---- */

bool tern_rte_hw_parse_locality(const char *text, int32_t ret_part[TERN_HW_KINDS])
{
    bool found = false;
    for (int kind = 0; kind < TERN_HW_KINDS; kind++)
        ret_part[kind] = 0;
    while (*text) {
        for (int kind = TERN_HW_PACKAGE; kind < TERN_HW_KINDS; kind++)
            if (strncmp(text, kinds[kind].locality, 2) == 0) {
                struct cpus numbers; /* numbers of parts here, not of processors */
                parse_list(text + 2, &numbers);
                int32_t part = first(&numbers);
                struct cpus one = {{0}};
                set(&one, part);
                ret_part[kind] = within(&numbers, &one) ? part : TERN_HW_NOT_BOUND;
                found = true;
            }
        text += strcspn(text, ":");
        text += *text == ':';
    }
    for (int kind = 0; kind < TERN_HW_KINDS && !found; kind++)
        ret_part[kind] = TERN_HW_NOT_BOUND;
    return found;
}

bool tern_rte_hw_launch_place(uint32_t rank, uint32_t *ret_node, int32_t ret_part[TERN_HW_KINDS])
{
    char locality[1024];
    if (!tern_rte.managed || !tern_pmix_place(rank, ret_node, locality, sizeof locality))
        return false;
    tern_rte_hw_parse_locality(locality, ret_part);
    return true;
}
