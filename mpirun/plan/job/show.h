/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_SHOW_H
#define TERN_MPIRUN_PLAN_SHOW_H

/* Writes what --display-map and similar options ask for, before the job starts, in Open MPI's
 * words. */

#include "mpirun/plan/map/map.h"
#include "mpirun/plan/words/options.h"

/* Writes everything that the options ask for, and advice about crowded hosts. `unused` hosts, which
 * get no rank, follow the `host_count` hosts. Returns 0, or 1 after a message if something could
 * not be written. */
int tern_show(const struct tern_options *options, const struct tern_host *hosts, int host_count,
              int unused, const struct tern_map *map);
/* Flushes standard output. Returns 0, or 1 after a message if not all could be written. */
int tern_show_finish(void);

#endif
