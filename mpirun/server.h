/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVER_H
#define TERN_MPIRUN_SERVER_H

/* The PMIx server of this node: tells the ranks who they are and who the others are, exchanges what
 * they publish, and reports what they do. One job per process. */

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpirun/map.h"
#include "mpirun/options.h"

struct tern_server_job {
    const char *nspace; /* the job's name; secret enough that nobody guesses it */
    const char *secret; /* what its processes prove to each other that they know, in hexadecimal digits */
    const char *session_dir;
    const struct tern_host *host;
    hwloc_topology_t topology;
    const struct tern_map *map;
    const struct tern_options *options;
    char **wdirs; /* of each program, absolute */
};

/* What the ranks' PMIx clients did. Called on mpirun's loop, from tern_server_dispatch. */
struct tern_server_listener {
    void (*connected)(int rank); /* PMIx_Init: this is an MPI program */
    void (*world)(int rank);     /* TERN_LAUNCHER_WORLD */
    void (*finalized)(int rank); /* PMIx_Finalize */
    void (*lost)(int rank);      /* its connection ended without that */
    void (*aborted)(int rank, int status,
                    const char *message);    /* PMIx_Abort; message may be NULL */
    void (*signalled)(int rank, int number); /* a rank asks to signal `rank` (-1: all) */
};

/* Starts the server. Blocks some milliseconds; starts threads. 0 or TERN_ERR_OTHER. */
int tern_server_start(const struct tern_server_job *job,
                      const struct tern_server_listener *listener);

/* Readable when tern_server_dispatch has something to do. */
int tern_server_fd(void);
/* Answers requests and calls the listener. Everything a rank did before it ended is seen by a call
 * made after its end is known. */
void tern_server_dispatch(void);

/* Adds the variables that a rank needs to find the server. 0 or TERN_ERR_OTHER. */
int tern_server_add_environment(int rank, struct tern_strings *env);

#endif
