/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_EXPLAIN_H
#define TERN_MPIRUN_PLAN_EXPLAIN_H

/* What --explain writes: why the job will run as it does. */

#include "mpirun/plan/map/map.h"
#include "mpirun/plan/words/options.h"

/* Writes to standard output: what the user said and where, every parameter with the source of its
 * value, the mapping and the processors of each rank, and what carries messages to each kind of
 * peer. Starts two short-lived processes to learn what the system permits. */
void tern_explain(const struct tern_options *options, const struct tern_host *hosts, int host_count,
                  const struct tern_map *map);

#endif
