/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLACEMENT_H
#define TERN_MPIRUN_PLACEMENT_H

/* Turns options into hosts and a map: finds the hosts that may be used, decides which of them get
 * ranks, and starts their agents, because mapping needs to know their processors. Nothing is freed:
 * all of it lasts as long as the job. */

#include <hwloc.h>

#include "mpirun/plan/hosts/host_list.h"
#include "mpirun/plan/map/map.h"
#include "mpirun/plan/words/options.h"
#include "mpirun/plan/hosts/rankfile.h"
#include "mpirun/tree/start_agents.h"

/* Hosts and map of the job. */
struct tern_placement {
    struct tern_options *options;
    struct tern_rankfile rankfile; /* count 0 if no rankfile was given */
    /* the hosts that may be used; after tern_placement_make those that get ranks */
    struct tern_host_list list;
    /* by rank; NULL unless a rankfile or --map-by seq fixes places */
    struct tern_fixed_place *fixed;
    int *limits; /* which program may use which host, as struct tern_map_request says; or NULL */
    struct tern_host own;           /* this machine, whether the list has it or not */
    struct tern_host *hosts;        /* one for each entry of `list`, then the `unused` ones */
    int unused; /* number of hosts after those of the list, which get no rank */
    int here;   /* index of this machine in the list, or -1 */
    /* of all hosts, including those that get no rank; 0 if unknown until the agents answer */
    int slots;
    hwloc_topology_t topology; /* of this machine */
    struct tern_map map;       /* filled in by tern_placement_make */
};

/* Fills in `list` and `fixed`. Returns 0 or TERN_ERR_ARG. May ask the resolver, and block. */
int tern_placement_collect(struct tern_options *options, struct tern_placement *placement);
/* Returns true if this machine is the only host of the list. */
bool tern_placement_is_here(const struct tern_placement *placement);
/* Makes the map. If the job uses other hosts, starts their agents first, unless this is a dry run.
 * `listener` is told about agents from then on and must live as long as the process. Returns 0 or
 * TERN_ERR_*; agents may be up after an error. Blocks. */
int tern_placement_make(struct tern_placement *placement,
                        const struct tern_start_agents_listener *listener);

#endif
