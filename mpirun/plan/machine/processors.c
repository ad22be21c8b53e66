/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/machine/processors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tern_cpus_add(struct tern_cpus *set, int os_index)
{
    if (os_index >= 0 && os_index < TERN_MAX_CPUS)
        set->bits[os_index / 64] |= (uint64_t)1 << os_index % 64;
}

bool tern_cpus_has(const struct tern_cpus *set, int os_index)
{
    return os_index >= 0 && os_index < TERN_MAX_CPUS &&
           set->bits[os_index / 64] >> os_index % 64 & 1;
}

int tern_cpus_count(const struct tern_cpus *set)
{
    int count = 0;
    for (int i = 0; i < TERN_MAX_CPUS / 64; i++)
        count += __builtin_popcountll(set->bits[i]);
    return count;
}

const char *tern_map_level_name(enum tern_map_level level)
{
    static const char *const names[] = {
        [TERN_MAP_LEVEL_HWTHREAD] = "hwthread", [TERN_MAP_LEVEL_CORE] = "core",
        [TERN_MAP_LEVEL_L1] = "l1cache",        [TERN_MAP_LEVEL_L2] = "l2cache",
        [TERN_MAP_LEVEL_L3] = "l3cache",        [TERN_MAP_LEVEL_NUMA] = "numa",
        [TERN_MAP_LEVEL_SOCKET] = "socket",     [TERN_MAP_LEVEL_NODE] = "node",
        [TERN_MAP_LEVEL_SLOT] = "slot",         [TERN_MAP_LEVEL_NONE] = "none",
        [TERN_MAP_LEVEL_DEFAULT] = "default",   [TERN_MAP_LEVEL_COUNT] = "?",
    };
    return names[level];
}

int tern_host_objects(const struct tern_host *host, enum tern_map_level level)
{
    int objects = level < TERN_MAP_LEVEL_NODE ? 0 : 1;
    for (int i = 0; i < host->cpu_count && level < TERN_MAP_LEVEL_NODE; i++) {
        if (host->cpus[i].id[level] >= objects)
            objects = host->cpus[i].id[level] + 1;
    }
    return objects;
}

int tern_host_units(const struct tern_host *host, bool hwthreads)
{
    int units = tern_host_objects(host, hwthreads ? TERN_MAP_LEVEL_HWTHREAD : TERN_MAP_LEVEL_CORE);
    return host->cpu_limit > 0 && host->cpu_limit < units ? host->cpu_limit : units;
}

int tern_host_slots(const struct tern_host *host, bool hwthreads)
{
    if (host->slots > 0)
        return host->slots;
    if (host->slots_level > 0)
        return tern_host_objects(host, (enum tern_map_level)(host->slots_level - 1));
    return tern_host_units(host, hwthreads);
}

void tern_cpus_read(const char *text, struct tern_cpus *ret_set)
{
    struct tern_cpus set = { 0 };
    const char *at = strchr(text, ':');
    for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at += *at == ',') {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu <= last && cpu < TERN_MAX_CPUS; cpu++)
            tern_cpus_add(&set, (int)cpu);
        at = end;
    }
    *ret_set = set;
}
