/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_MAP_H
#define TERN_MPIRUN_PLAN_MAP_H

/* Which rank runs where, and on which processors: a pure function from recorded hosts and what the
 * user asked for to a map. It reads nothing of this machine and starts nothing, so that any machine
 * can be tested on any other. */

#include "mpirun/plan/processors.h"

/* Where one rank was said to be, by a rankfile or a sequence of hosts. */
struct tern_fixed_place {
    int host;          /* index */
    const char *slots; /* its processors as slots.h words them; NULL: as for other ranks */
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
/* How many ranks `host` has. */
int tern_map_ranks_on(const struct tern_map *map, int host);

#endif
