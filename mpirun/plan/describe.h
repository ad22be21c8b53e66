/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_DESCRIBE_H
#define TERN_MPIRUN_PLAN_DESCRIBE_H

/* A rank's place in words. */

#include "mpirun/plan/map.h"

/* Where a place is, as PMIx words it: "SK0:L30:L20:L10:CR0:HT0-1:NM0" and "hwloc:0,8"; malloc'ed.
 */
char *tern_map_locality(const struct tern_host *host, const struct tern_rank_place *place);
char *tern_map_cpuset(const struct tern_rank_place *place);
/* "socket 0[core 0[hwt 0-1]], socket 0[core 1[hwt 0-1]]: [BB/BB/../..]" as Open MPI words it;
 * malloc'ed. */
char *tern_map_describe(const struct tern_host *host, const struct tern_rank_place *place);

#endif
