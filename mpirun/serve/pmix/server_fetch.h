/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_SERVER_FETCH_H
#define TERN_MPIRUN_SERVE_PMIX_SERVER_FETCH_H

/* Asks the PMIx server of this host for data. */

#include <stddef.h>

/* Asks what a rank of this host, in namespace `nspace`, has put. If the rank has not put anything
 * yet, waits for that without blocking. Calls `fetched` on mpirun's loop, or at once if the request
 * fails; `status` is PMIx's. */
void tern_server_fetch(const char *nspace, int rank,
                       void (*fetched)(void *context, int status, const char *data, size_t size),
                       void *context);

#endif
