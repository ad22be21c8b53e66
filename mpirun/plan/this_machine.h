/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_THIS_MACHINE_H
#define TERN_MPIRUN_PLAN_THIS_MACHINE_H

/* This machine, recorded for the mapping: the processors that affinity and control groups leave to
 * us. */

#include <hwloc.h>

#include "mpirun/plan/map.h"

/* Reads this machine. `cpu_list` (such as "0-3,8"; NULL: all) names the processors to use.
 * *ret_topology is for the PMIx server and stays open. 0, or TERN_ERR_ARG (the list) or
 * TERN_ERR_OTHER with text. */
int tern_topology_read(const char *cpu_list, struct tern_host *ret_host,
                       hwloc_topology_t *ret_topology);

/* Records a loaded topology's processors within `allowed` (NULL: all) in `host`. */
void tern_topology_record(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                          struct tern_host *host);

/* Whole processors' worth of time per cgroup files: text of cpu.max (version 2), or quota and
 * period (version 1). 0: no limit. */
int tern_quota_from_max(const char *cpu_max);
int tern_quota_from_period(long long quota_us, long long period_us);

#endif
