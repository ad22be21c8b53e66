/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_PMIX_CALLBACKS_H
#define TERN_MPIRUN_SERVE_PMIX_PMIX_CALLBACKS_H

/* The functions that PMIx's server calls, on its own threads. */

#include <pmix_server.h>

#include "mpirun/plan/job/job_facts.h"

/* Returns the functions for PMIx_server_init. `job` must live as long as the process. */
pmix_server_module_t *tern_pmix_callbacks(const struct tern_job *job);
/* Asks PMIx to report the ranks whose connections are lost, and those that say that they are in
 * MPI_Init. Call it after PMIx_server_init. */
void tern_pmix_watch_ranks(void);

#endif
