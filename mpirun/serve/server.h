/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_SERVER_H
#define TERN_MPIRUN_SERVE_SERVER_H

/* The PMIx server of this node: tells the ranks who they are and who the others are, exchanges what
 * they publish, and reports what they do. One job per process. */

#include "mpirun/plan/job_facts.h"
#include "mpirun/serve/clients.h"

/* Starts the server. Blocks some milliseconds; starts threads. 0 or TERN_ERR_OTHER. */
int tern_server_start(const struct tern_job *job, const struct tern_client_listener *listener);

/* Readable when tern_server_dispatch has something to do. */
int tern_server_fd(void);
/* Answers requests and calls the listener. Everything a rank did before it ended is seen by a call
 * made after its end is known. */
void tern_server_dispatch(void);

/* Adds the variables that a rank needs to find the server. 0 or TERN_ERR_OTHER. */
int tern_server_add_environment(int rank, struct tern_strings *env);

#endif
