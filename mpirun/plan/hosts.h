/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_HOSTS_H
#define TERN_MPIRUN_PLAN_HOSTS_H

/* Which hosts a job may use, and how many slots each has: --host and --hostfile, among the hosts of
 * the batch system's allocation where there is one. */

#include "mpirun/plan/host_list.h"
#include "mpirun/plan/rankfile.h"

/* The hosts after --host, --hostfile and the allocation, each once and in order; those of the
 * rankfile (may be NULL) where nobody says anything, or this machine alone. TERN_ERR_ARG. */
int tern_hosts_collect(const struct tern_strings *hosts, const struct tern_strings *files,
                       const struct tern_rankfile *rankfile, struct tern_host_list *ret_list);

#endif
