/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_MAP_H
#define TERN_MPIRUN_MAP_H

/* Which rank runs where, and on which processors: a pure function from recorded hosts and what the
 * user asked for to a map. It reads nothing of this machine and starts nothing, so that any machine
 * can be tested on any other. */

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

/* Where one rank was said to be, by a rankfile or a sequence of hosts. */
struct tern_fixed_place {
    int host;          /* index */
    const char *slots; /* its processors as rankfile.h words them; NULL: as for other ranks */
    int line;          /* of the rankfile */
};

struct tern_map_request {
    const int *np;      /* ranks of each program; 0: not said */
    int apps;           /* number of programs */
    enum tern_map_level by; /* a level, SLOT or DEFAULT */
    int per_object;     /* ppr: this many ranks on each object of level per_level; 0: not used */
    enum tern_map_level per_level;
    enum tern_map_level rank_by; /* a level, SLOT or DEFAULT */
    enum tern_map_level bind;    /* a level, NONE or DEFAULT */
    int pe;                  /* cores (or hardware threads) for each rank; 0 or 1: one */
    bool hwthreads;          /* --use-hwthread-cpus: a hardware thread counts as a processor */
    bool no_oversubscribe;   /* more ranks than slots is an error */
    bool over_hosts;         /* ... because that is so on several hosts, not because it was asked */
    bool span;               /* each host gets as many ranks as the others */
    const struct tern_fixed_place *fixed; /* by rank: then nothing else decides; NULL: not said */
    int fixed_count;
    const char *fixed_by; /* the rankfile; NULL: --map-by seq */
};

struct tern_rank_place {
    int host;       /* index */
    int app;        /* program */
    int app_rank;   /* among the ranks of its program */
    int local_rank; /* among the ranks on its host */
    int object;     /* ordinal at the level mapped by; 0 for slot and node */
    bool bound;
    struct tern_cpus cpus; /* all the host's when not bound */
};

struct tern_map {
    int size;                  /* ranks */
    struct tern_rank_place *places; /* by rank; owned by the map */
    int slots;                 /* of all hosts */
    enum tern_map_level by, bind;  /* as decided */
    int crowded_host;          /* first host with more ranks than processors, or -1 */
    int crowded_ranks, crowded_units;
};

/* TERN_ERR_ARG with a sentence for the user when the request cannot be met. Free the result with
 * tern_map_free. */
int tern_map_ranks(const struct tern_map_request *request, const struct tern_host *hosts,
                   int host_count, struct tern_map *ret_map);
void tern_map_free(struct tern_map *map);

/* Where a place is, as PMIx words it: "SK0:L30:L20:L10:CR0:HT0-1:NM0" and "hwloc:0,8"; malloc'ed. */
char *tern_map_locality(const struct tern_host *host, const struct tern_rank_place *place);
char *tern_map_cpuset(const struct tern_rank_place *place);
/* Reads "hwloc:0-3,8"; other words read as the empty set. */
void tern_cpus_read(const char *text, struct tern_cpus *ret_set);

/* "socket 0[core 0[hwt 0-1]], socket 0[core 1[hwt 0-1]]: [BB/BB/../..]" as Open MPI words it;
 * malloc'ed. */
char *tern_map_describe(const struct tern_host *host, const struct tern_rank_place *place);

#endif
