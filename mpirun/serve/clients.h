/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_CLIENTS_H
#define TERN_MPIRUN_SERVE_CLIENTS_H

/* What the ranks of this host do as clients of mpirun or of the agent. They tell it by PMIx or by
 * Tern's own reports. */

#include <stdbool.h>

#include "lib/util/net/launcher.h"

/* Called on the loop of mpirun or of the agent. */
struct tern_client_listener {
    void (*connected)(int rank); /* PMIx_Init or Tern's report: this is an MPI program */
    void (*world)(int rank);     /* TERN_LAUNCHER_WORLD: the rank is in MPI_Init */
    void (*finalized)(int rank); /* PMIx_Finalize or Tern's report */
    void (*lost)(int rank);      /* its connection ended without finalizing */
    void (*aborted)(int rank, int status,
                    const char *message);    /* MPI_Abort; message may be NULL */
    /* a rank asks to send signal `number` to `rank` (-1: to all) */
    void (*signalled)(int rank, int number);
    /* a text to show the user; `remark` is an enum tern_remark (lib/util/net/launcher.h), or an
     * unknown number */
    void (*remarked)(
        int rank, int remark,
        const char *text);
    /* signal `number` ends the rank's program; `text` says where, on several lines */
    void (*crashed)(int rank, int number, const char *text);
    /* whether the rank is connected to other jobs, and to which (TERN_REPORT_JOINED) */
    void (*joined)(int rank, enum tern_joined how, const char *jobs);
    /* the rank asks something: a part of a question (lib/util/net/question.h) */
    void (*asked)(int rank, bool last, const char *part);
};

/* The members of the listener as numbers, for agents to send. */
enum tern_client_act {
    TERN_CLIENT_CONNECTED,
    TERN_CLIENT_WORLD,
    TERN_CLIENT_FINALIZED,
    TERN_CLIENT_LOST,
    TERN_CLIENT_ABORTED,
    TERN_CLIENT_SIGNALLED,
    TERN_CLIENT_REMARKED,
    TERN_CLIENT_CRASHED,
    TERN_CLIENT_JOINED,
    TERN_CLIENT_ASKED,
};
/* Calls the listener's function for `act`. Ignores an unknown act. */
void tern_client_tell(const struct tern_client_listener *listener, int act, int rank, int number,
                      const char *text);

#endif
