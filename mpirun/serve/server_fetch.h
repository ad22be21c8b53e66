/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_SERVER_FETCH_H
#define TERN_MPIRUN_SERVE_SERVER_FETCH_H

/* Asks the PMIx server of this host. */

#include <stddef.h>

/* Asks what a rank of this host, in namespace `nspace`, has put, and waits until it has. `fetched`
 * is called on mpirun's loop, or at once if that fails; `status` is PMIx's. */
void tern_server_fetch(const char *nspace, int rank,
                       void (*fetched)(void *context, int status, const char *data, size_t size),
                       void *context);

#endif
