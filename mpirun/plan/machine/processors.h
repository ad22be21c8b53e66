/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_PROCESSORS_H
#define TERN_MPIRUN_PLAN_PROCESSORS_H

/* The processors of a host as recorded data. The host may be this machine or another one. */

#include <stdbool.h>
#include <stdint.h>

/* Largest number of processors of a host. */
enum { TERN_MAX_CPUS = 4096 };

/* A set of processors, by the operating system's numbers. */
struct tern_cpus {
    uint64_t bits[TERN_MAX_CPUS / 64];
};

/* Adds a processor. Ignores numbers outside 0 .. TERN_MAX_CPUS - 1. */
void tern_cpus_add(struct tern_cpus *set, int os_index);
/* Returns true if the processor is in the set. */
bool tern_cpus_has(const struct tern_cpus *set, int os_index);
/* Returns the number of processors in the set. */
int tern_cpus_count(const struct tern_cpus *set);
/* Reads "hwloc:0-3,8". Any other text gives the empty set. */
void tern_cpus_read(const char *text, struct tern_cpus *ret_set);

/* Levels of the machine, from narrow to wide, and the words that stand for no level. */
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
    TERN_MAP_LEVEL_SLOT,    /* for mapping and ranking only */
    TERN_MAP_LEVEL_NONE,    /* for binding only */
    TERN_MAP_LEVEL_DEFAULT, /* mpirun chooses */
};

/* Returns the level's name in lower case, such as "core" or "socket". */
const char *tern_map_level_name(enum tern_map_level level);

/* A hardware thread: its operating system number, and for each level the ordinal (0, 1, ...) of the
 * object that contains the thread. */
struct tern_cpu {
    int os_index;
    int id[TERN_MAP_LEVEL_COUNT];
};

/* A host as recorded: the hardware threads that the job may use, in the machine's logical order. */
struct tern_host {
    char name[256];
    struct tern_cpu *cpus; /* owned by the function that recorded the host */
    int cpu_count; /* at least 1 */
    int slots;     /* as the user gave it; 0: one per core */
    int slots_level; /* if `slots` is 0: 1 + the level whose objects are the slots; 0: cores */
    int max_slots; /* largest number of ranks; 0: no limit */
    bool slots_implied; /* the user did not write the number: --host NAME means one slot */
    /* processor time that a control group grants, in whole processors; 0: no limit */
    int cpu_limit;
};

/* Returns the number of objects of a level on the host: 1 for TERN_MAP_LEVEL_NODE, and for what is
 * no level of a machine (slot, none, default). */
int tern_host_objects(const struct tern_host *host, enum tern_map_level level);
/* Returns how many ranks run without sharing: the number of cores (or hardware threads), but at
 * most the control group's limit. */
int tern_host_units(const struct tern_host *host, bool hwthreads);
/* Returns the host's slots: as given, else tern_host_units. */
int tern_host_slots(const struct tern_host *host, bool hwthreads);

#endif
