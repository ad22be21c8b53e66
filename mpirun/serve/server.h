/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVER_H
#define TERN_MPIRUN_SERVER_H

/* The PMIx server of this node: tells the ranks who they are and who the others are, exchanges what
 * they publish, and reports what they do. One job per process. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpirun/plan/job.h"

/* What the ranks' PMIx clients did. Called on mpirun's loop, from tern_server_dispatch. */
struct tern_server_listener {
    void (*connected)(int rank); /* PMIx_Init: this is an MPI program */
    void (*world)(int rank);     /* TERN_LAUNCHER_WORLD */
    void (*finalized)(int rank); /* PMIx_Finalize */
    void (*lost)(int rank);      /* its connection ended without that */
    void (*aborted)(int rank, int status,
                    const char *message);    /* PMIx_Abort; message may be NULL */
    void (*signalled)(int rank, int number); /* a rank asks to signal `rank` (-1: all) */
    void (*remarked)(int rank, int remark, const char *text); /* an enum tern_remark (lib/util/launcher.h), or a number that is none */
};

/* The same as numbers, for agents to send: calls what `act` stands for. */
enum tern_client_act {
    TERN_CLIENT_CONNECTED,
    TERN_CLIENT_WORLD,
    TERN_CLIENT_FINALIZED,
    TERN_CLIENT_LOST,
    TERN_CLIENT_ABORTED,
    TERN_CLIENT_SIGNALLED,
    TERN_CLIENT_REMARKED,
};
void tern_server_tell(const struct tern_server_listener *listener, int act, int rank, int number,
                      const char *text);

/* Starts the server. Blocks some milliseconds; starts threads. 0 or TERN_ERR_OTHER. */
int tern_server_start(const struct tern_job *job, const struct tern_server_listener *listener);

/* Readable when tern_server_dispatch has something to do. */
int tern_server_fd(void);
/* Answers requests and calls the listener. Everything a rank did before it ended is seen by a call
 * made after its end is known. */
void tern_server_dispatch(void);

/* What has a rank of this machine put? Waits until it has. `fetched` is called on mpirun's loop;
 * `status` is PMIx's. */
void tern_server_fetch(int rank,
                       void (*fetched)(void *context, int status, const char *data, size_t size),
                       void *context);

/* Adds the variables that a rank needs to find the server. 0 or TERN_ERR_OTHER. */
int tern_server_add_environment(int rank, struct tern_strings *env);

#endif
