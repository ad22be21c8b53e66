/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_SHOW_H
#define TERN_MPIRUN_PLAN_SHOW_H

/* What --display-map and its kin write before a job starts, in Open MPI's words. */

#include "mpirun/plan/map.h"
#include "mpirun/plan/options.h"

/* Writes all that the options ask for, and advice about crowded hosts. Behind the `host_count`
 * hosts stand `unused` ones, which get no rank. Returns 0, or 1 if something could not be written,
 * and says why. */
int tern_show(const struct tern_options *options, const struct tern_host *hosts, int host_count,
              int unused, const struct tern_map *map);
/* Flushes standard output. Returns 0, or 1 if the reader does not get all of it, and says why. */
int tern_show_finish(void);

#endif
