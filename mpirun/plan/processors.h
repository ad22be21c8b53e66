/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_PROCESSORS_H
#define TERN_MPIRUN_PLAN_PROCESSORS_H

/* The processors of a host, as recorded: data of this machine or of another one, for the mapping.
 */

#include <stdbool.h>
#include <stdint.h>

enum { TERN_MAX_CPUS = 4096 };

/* A set of processors by the operating system's numbers. */
struct tern_cpus {
    uint64_t bits[TERN_MAX_CPUS / 64];
};

void tern_cpus_add(struct tern_cpus *set, int os_index);
bool tern_cpus_has(const struct tern_cpus *set, int os_index);
int tern_cpus_count(const struct tern_cpus *set);
/* Reads "hwloc:0-3,8"; other words read as the empty set. */
void tern_cpus_read(const char *text, struct tern_cpus *ret_set);

/* Places, from narrow to wide; and the words that stand for no place. */
enum tern_map_level {
    TERN_MAP_LEVEL_HWTHREAD,
    TERN_MAP_LEVEL_CORE,
    TERN_MAP_LEVEL_L1,
    TERN_MAP_LEVEL_L2,
    TERN_MAP_LEVEL_L3,
    TERN_MAP_LEVEL_NUMA,
    TERN_MAP_LEVEL_SOCKET,
    TERN_MAP_LEVEL_NODE,
    TERN_MAP_LEVEL_COUNT,
    TERN_MAP_LEVEL_SLOT,    /* mapping and ranking only */
    TERN_MAP_LEVEL_NONE,    /* binding only */
    TERN_MAP_LEVEL_DEFAULT, /* choose */
};

/* "core", "socket", ... in lower case. */
const char *tern_map_level_name(enum tern_map_level level);

/* A hardware thread: its operating system number and the ordinal (0, 1, ...) of the object of each
 * level that it belongs to. */
struct tern_cpu {
    int os_index;
    int id[TERN_MAP_LEVEL_COUNT];
};

/* A host as recorded: the hardware threads that we may use, in the machine's logical order. */
struct tern_host {
    char name[256];
    struct tern_cpu *cpus;
    int cpu_count; /* at least 1 */
    int slots;     /* as the user said; 0: one per core */
    int max_slots; /* ranks it takes at most; 0: any number */
    bool slots_implied; /* --host NAME counts as one slot, but did not say so */
    int cpu_limit; /* whole processors' worth of time that a control group grants; 0: no limit */
};

/* Number of objects of a level on the host. */
int tern_host_objects(const struct tern_host *host, enum tern_map_level level);
/* Cores (or hardware threads), at most the control group's limit: how many ranks run without
 * sharing. */
int tern_host_units(const struct tern_host *host, bool hwthreads);
int tern_host_slots(const struct tern_host *host, bool hwthreads);

#endif
