/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_THIS_HOST_H
#define TERN_MPIRUN_PLAN_THIS_HOST_H

/* What a job on this host alone shows: settings that name what this host does not have. On other
 * hosts it may be there. */

#include "mpirun/plan/words/options.h"

/* Warns of a directory of --prefix and of interfaces of btl_tcp_if_include that do not exist,
 * unless --quiet was given. Call it if all ranks are on this host. */
void tern_this_host_check(const struct tern_options *options);

#endif
