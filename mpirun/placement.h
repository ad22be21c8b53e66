/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLACEMENT_H
#define TERN_MPIRUN_PLACEMENT_H

/* From options to hosts and a map: which hosts may be used, which of them get ranks, and, where
 * processors of others count, their agents. Nothing is freed: it lasts as long as the job. */

#include <hwloc.h>

#include "mpirun/plan/host_list.h"
#include "mpirun/plan/map.h"
#include "mpirun/plan/options.h"
#include "mpirun/plan/rankfile.h"
#include "mpirun/tree/start_agents.h"

struct tern_placement {
    struct tern_options *options;
    struct tern_rankfile rankfile; /* empty: none was given */
    struct tern_host_list list;
    struct tern_fixed_place *fixed; /* by rank, where a rankfile or a sequence says it */
    struct tern_host own;           /* this machine, whether it is among them or not */
    struct tern_host *hosts;
    int unused; /* hosts behind those of the list, which get no rank */
    int here;   /* this machine among them, or -1 */
    int slots;  /* of all, also of those that get no rank; 0: not known before they are asked */
    hwloc_topology_t topology; /* of this machine */
    struct tern_map map;
};

/* Fills in `list`, and `fixed`. May ask the resolver, and block. 0 or TERN_ERR_ARG. */
int tern_placement_collect(struct tern_options *options, struct tern_placement *placement);
/* Returns true if this machine is the only host of the list. */
bool tern_placement_is_here(const struct tern_placement *placement);
/* Makes the map. If there are other hosts, their agents are up afterwards, unless this is a dry
 * run; `listener` is told of them and must live on. 0 or TERN_ERR_*: agents may be up. */
int tern_placement_make(struct tern_placement *placement,
                        const struct tern_muster_listener *listener);

#endif
