/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_SERVER_H
#define TERN_MPIRUN_SERVE_PMIX_SERVER_H

/* The PMIx server of this node. It tells the ranks their own numbers and places and those of the
 * others, exchanges what they publish, and reports what they do. One job per process. */

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/serve/clients.h"

/* Starts the server and its threads. Blocks for some milliseconds. Returns 0 or TERN_ERR_OTHER. */
int tern_server_start(const struct tern_job *job, const struct tern_client_listener *listener);

/* Returns a descriptor that is readable when tern_server_dispatch has something to do. */
int tern_server_fd(void);
/* Answers requests and calls the listener. If a rank is known to have ended, this handles
 * everything that the rank did before. */
void tern_server_dispatch(void);

/* Adds the variables by which a rank finds the server. Returns 0 or TERN_ERR_OTHER. */
int tern_server_add_environment(int rank, struct tern_strings *env);

#endif
