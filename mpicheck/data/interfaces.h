/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_INTERFACES_H
#define TERN_MPICHECK_INTERFACES_H

/* Which interfaces connect the hosts, all of them (mpicheck --per nic) or two. */

#include "mpicheck/data/measured.h"

enum { TERN_MC_NICS_MOST = 16 };

/* Lists the names of the interfaces that run on two hosts or more, where all their addresses differ
 * and are in one subnet. So a bridge for containers with one address on all hosts is none. The
 * names belong to the data. Returns their number, at most TERN_MC_NICS_MOST. */
int tern_mc_interfaces(const struct tern_mc_data *data, const char **ret_names);

/* Returns why a host cannot be reached by an interface, in words; NULL: it can. */
const char *tern_mc_lacks(const struct tern_mc_host *host, const char *nic);

/* The interfaces of all connections, each name once. */
struct tern_mc_nics {
    const char *names[TERN_MC_NICS_MOST]; /* they belong to the data */
    int count;
};

void tern_mc_nics_find(const struct tern_mc_data *data, struct tern_mc_nics *ret_nics);

/* Returns the interfaces that the connections between two hosts use, at either end: bit i stands
 * for names[i]; 0: no connection is known. */
uint32_t tern_mc_route(const struct tern_mc_data *data, const struct tern_mc_nics *nics, int a,
                       int b);

#endif
