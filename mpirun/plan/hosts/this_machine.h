/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_THIS_MACHINE_H
#define TERN_MPIRUN_PLAN_THIS_MACHINE_H

/* Records this machine for the mapping: the processors that affinity and control groups leave to
 * the job. */

#include <hwloc.h>

#include "mpirun/plan/map/map.h"

/* How a list of hardware threads, rather than cores, begins. */
#define TERN_CPU_LIST_THREADS "threads:"
/* Reads this machine. `cpu_list` (such as "0-3,8"; NULL: all) names the cores to use, by their
 * logical numbers, or hardware threads if it begins with TERN_CPU_LIST_THREADS. Returns 0,
 * TERN_ERR_ARG if the list names what the machine lacks or leaves no processor, or TERN_ERR_OTHER.
 * *ret_topology stays open, because the PMIx server needs it. */
int tern_topology_read(const char *cpu_list, struct tern_host *ret_host,
                       hwloc_topology_t *ret_topology);

/* Returns the level whose objects stand for those of `level`: the next wider one that the machine
 * has; `level` itself if it has some. */
enum tern_map_level tern_topology_stand_in(hwloc_topology_t topology, enum tern_map_level level);
/* Records in `host` the processors of a loaded topology that are within `allowed` (NULL: all). */
void tern_topology_record(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                          struct tern_host *host);

/* Return the processor time that a control group grants, rounded to whole processors, at least 1; 0
 * if there is no limit. tern_quota_from_max reads the text of cpu.max (version 2); the other takes
 * quota and period (version 1). */
int tern_quota_from_max(const char *cpu_max);
int tern_quota_from_period(long long quota_us, long long period_us);

#endif
