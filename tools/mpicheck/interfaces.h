/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_INTERFACES_H
#define TERN_MPICHECK_INTERFACES_H

/* Which interfaces connect the hosts (mpicheck --per nic). */

#include "tools/mpicheck/measured.h"

enum { TERN_MC_NICS_MOST = 16 };

/* Lists the names of the interfaces that run on two hosts or more, where all their addresses differ
 * and are in one subnet. So a bridge for containers with one address on all hosts is none. The
 * names belong to the data. Returns their number, at most TERN_MC_NICS_MOST. */
int tern_mc_interfaces(const struct tern_mc_data *data, const char **ret_names);

#endif
