/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_MAP_H
#define TERN_MPIRUN_PLAN_MAP_H

/* Decides which rank runs where and on which processors. This is a pure function from recorded
 * hosts and the user's request to a map. It reads nothing from this machine and starts nothing, so
 * any kind of machine can be tested on any other. */

#include "mpirun/plan/machine/processors.h"

/* Where a rankfile or a sequence of hosts puts one rank. */
struct tern_fixed_place {
    int host;          /* index of the host */
    /* processors as slots.h describes them; NULL if the rank is bound like any other */
    const char *slots;
    int line;          /* line of the rankfile, for messages */
};

/* What the user asked for. */
struct tern_map_request {
    const int *np;      /* by program: its number of ranks; 0 if not given */
    int apps;           /* number of programs */
    /* by host, then by program: the slots of the host for the program; INT_MAX: all that the host
     * has; 0: the program may not run there. NULL: every program may run everywhere */
    const int *limits;
    enum tern_map_level by; /* where to map: a level, SLOT or DEFAULT */
    /* --map-by :MODIFIER names no object: the default is sockets, whatever the number of ranks */
    bool by_implied;
    int per_object;     /* ppr: ranks on each object of level per_level; 0 if not used */
    enum tern_map_level per_level;
    bool per_gives_way; /* per_object does not count if it allows fewer ranks than -np says */
    enum tern_map_level rank_by; /* how to number: a level, SLOT or DEFAULT */
    enum tern_map_level bind;    /* a level, NONE or DEFAULT */
    /* PE=N: cores (or hardware threads) for each rank; 0 if not given: one, and the default binding
     * may be wider */
    int pe;
    bool hwthreads;          /* --use-hwthread-cpus: a hardware thread counts as a processor */
    bool in_batch_job;       /* the hosts and slots are a batch system's */
    bool no_oversubscribe;   /* more ranks than slots is an error */
    bool oversubscribe;      /* the user allows more ranks than slots */
    bool overload;           /* ranks are bound even if a host has too few processors */
    /* no_oversubscribe holds because there are several hosts, not because the user asked for it */
    bool over_hosts;
    bool span;               /* --map-by OBJECT:SPAN: shared out over the objects of all hosts */
    bool rank_span, rank_fill; /* --rank-by OBJECT:SPAN, OBJECT:FILL (numbering.c) */
    bool rank_mapped; /* by the objects to which ranks are mapped, instead of rank_by */
    /* by rank: where each rank runs, overriding all other rules; NULL if not given */
    const struct tern_fixed_place *fixed;
    int fixed_count;      /* number of places in `fixed` */
    const char *fixed_by; /* name of the rankfile; NULL for --map-by seq */
};

/* Where one rank runs. */
struct tern_rank_place {
    int host;       /* index of the host */
    int app;        /* index of the program */
    int app_rank;   /* number among the ranks of its program */
    int local_rank; /* number among the ranks on its host */
    int object;     /* ordinal of its object at the level mapped by; 0 for slot and node */
    bool bound;     /* the rank may run only on `cpus` */
    struct tern_cpus cpus; /* all processors of the host if not bound */
};

/* The map: a place for each rank. */
struct tern_map {
    int size;                  /* number of ranks */
    struct tern_rank_place *places; /* by rank; owned by the map */
    int slots;                 /* of all hosts */
    enum tern_map_level by, bind;  /* the levels that were decided on */
    int crowded_host;          /* first host with more ranks than processors or slots, or -1 */
    int crowded_ranks, crowded_units; /* ranks of that host, and its processors or slots */
    bool crowded_slots;        /* `crowded_units` are slots: there are processors enough */
    /* a host whose slots are fewer than its share by SPAN, and that share; 0 if there is none */
    int cut_host, cut_ranks;
    bool per_gave_way; /* per_object did not count, because -np says more */
};

/* Makes the map. Returns 0, or TERN_ERR_ARG with a message for the user if the request cannot be
 * met. The caller frees the map with tern_map_free. */
int tern_map_ranks(const struct tern_map_request *request, const struct tern_host *hosts,
                   int host_count, struct tern_map *ret_map);
/* Frees the places. */
void tern_map_free(struct tern_map *map);
/* Returns the number of ranks on `host`. */
int tern_map_ranks_on(const struct tern_map *map, int host);

#endif
