/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_MAPPING_H
#define TERN_MPIRUN_PLAN_MAPPING_H

/* The steps of a mapping, and the state that they share. Private to map.c, numbering.c and
 * binding.c. */

#include "mpirun/plan/map/map.h"

/* The state of a mapping. */
struct tern_mapping {
    const struct tern_map_request *request;
    const struct tern_host *hosts;
    int host_count;
    int *host_ranks;          /* by host: ranks so far */
    enum tern_map_level unit; /* core or hardware thread: what PE=N counts */
    int pe;                   /* units for each rank, at least 1 */
    bool none_free;           /* a program, not the first one, found no free slot on any host */
    bool lacks_slots;         /* a host has more ranks than slots */
    struct tern_map *map;
};

/* Returns the number of cores or hardware threads of each object of a level. The caller frees
 * it. */
int *tern_mapping_count_units(const struct tern_host *host, enum tern_map_level level,
                              enum tern_map_level unit);
/* Returns the lap of an object of `units` units that has `ranks` ranks and gets one more. */
int tern_mapping_lap(int ranks, int pe, int units);
/* Returns true if the object at which the place sits contains the processor. */
bool tern_mapping_covers(const struct tern_mapping *m, const struct tern_rank_place *place,
                         const struct tern_cpu *cpu);
/* Returns true if the ranks of host `h` are not bound because the user did not name a level and
 * they share slots or processors. */
bool tern_mapping_unbound(const struct tern_mapping *m, int h);

/* Changes the numbers of the ranks of each program as --rank-by says. */
void tern_mapping_number(struct tern_mapping *m);
/* Binds each rank. Returns 0, or TERN_ERR_ARG if a rankfile names processors that the host
 * lacks. */
int tern_mapping_bind(const struct tern_mapping *m);

#endif
