/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_ROUTES_H
#define TERN_MPICHECK_ROUTES_H

/* By which interfaces hosts are connected. */

#include "tools/mpicheck/measured.h"

enum { TERN_MC_NICS_MOST = 16 };

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

/* Returns true if an address, without the length of its prefix, is one of the host's. */
bool tern_mc_has_address(const struct tern_mc_host *host, const char *address);

#endif
