/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_HOSTS_H
#define TERN_MPIRUN_PLAN_HOSTS_H

/* Decides which hosts a job may use and how many slots each has: the hosts of --host and
 * --hostfile, which must be in the batch system's allocation if there is one. */

#include "mpirun/plan/hosts/host_list.h"
#include "mpirun/plan/words/options.h"
#include "mpirun/plan/hosts/rankfile.h"

/* Lists the hosts after --host, --hostfile and the allocation, each once and in order. If none of
 * these names a host, lists the hosts of `rankfile` (may be NULL), else only this machine. The
 * caller frees *ret_list. Returns 0 or TERN_ERR_ARG. May ask the resolver, and block. */
int tern_hosts_collect(const struct tern_strings *hosts, const struct tern_strings *files,
                       const struct tern_rankfile *rankfile, struct tern_host_list *ret_list);

/* Finds out which program may use which host, if programs name hosts of their own. Completes
 * `list`, that of tern_hosts_collect, with hosts that only programs without a --host use. Stores in
 * *ret_limits what struct tern_map_request says of them, or NULL if all programs may run
 * everywhere. The caller frees it. Returns 0 or TERN_ERR_ARG. May ask the resolver, and block. */
int tern_hosts_limit(const struct tern_options *options, struct tern_host_list *list,
                     int **ret_limits);

#endif
