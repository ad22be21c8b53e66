/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_CLIENTS_H
#define TERN_MPIRUN_SERVE_CLIENTS_H

/* What the ranks of this host, clients of mpirun or of the agent, have done: by PMIx, or by Tern's
 * own reports. */

/* Called on mpirun's loop. */
struct tern_client_listener {
    void (*connected)(int rank); /* PMIx_Init: this is an MPI program */
    void (*world)(int rank);     /* TERN_LAUNCHER_WORLD */
    void (*finalized)(int rank); /* PMIx_Finalize */
    void (*lost)(int rank);      /* its connection ended without that */
    void (*aborted)(int rank, int status,
                    const char *message);    /* PMIx_Abort; message may be NULL */
    void (*signalled)(int rank, int number); /* a rank asks to signal `rank` (-1: all) */
    void (*remarked)(
        int rank, int remark,
        const char *text); /* an enum tern_remark (lib/util/launcher.h), or a number that is none */
};

/* The same as numbers, for agents to send. */
enum tern_client_act {
    TERN_CLIENT_CONNECTED,
    TERN_CLIENT_WORLD,
    TERN_CLIENT_FINALIZED,
    TERN_CLIENT_LOST,
    TERN_CLIENT_ABORTED,
    TERN_CLIENT_SIGNALLED,
    TERN_CLIENT_REMARKED,
};
/* Calls the function that `act` stands for. */
void tern_client_tell(const struct tern_client_listener *listener, int act, int rank, int number,
                      const char *text);

#endif
