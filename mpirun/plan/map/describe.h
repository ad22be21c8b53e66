/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_DESCRIBE_H
#define TERN_MPIRUN_PLAN_DESCRIBE_H

/* Describes a rank's place as text. */

#include "mpirun/plan/map/map.h"

/* Return a place in PMIx's words: the locality "SK0:L30:L20:L10:CR0:HT0-1:NM0" and the cpuset
 * "hwloc:0,8". The caller frees the result. */
char *tern_map_locality(const struct tern_host *host, const struct tern_rank_place *place);
char *tern_map_cpuset(const struct tern_rank_place *place);
/* Returns a binding in Open MPI's words, "socket 0[core 0[hwt 0-1]], socket 0[core 1[hwt 0-1]]:
 * [BB/BB/../..]", or a sentence that the rank is not bound. The caller frees the result. */
char *tern_map_describe(const struct tern_host *host, const struct tern_rank_place *place);

#endif
