/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_LAUNCH_H
#define TERN_MPIRUN_TREE_LAUNCH_H

/* How agents are started, and which host starts which: data that every agent gets. */

#include "mpirun/wire/frame.h"

/* How to start agents. */
struct tern_launch {
    struct tern_strings
        words; /* the command that reaches a host: plm_rsh_agent and plm_rsh_args, or "srun" */
    const char *program; /* path of mpirun on the other hosts */
    int timeout_ms;      /* for a host to answer */
    int silence_ms;      /* heartbeat_timeout; 0: no limit */
    int width;           /* number of hosts that each process of the tree starts */
    /* number of mpirun's own host in the job, which has no agent; -1 if it is not part of the
     * job */
    int root_host;
};

/* Returns the host that starts `host`: TERN_ROOT for mpirun, else a smaller number. */
int tern_launch_parent(const struct tern_launch *launch, int host);

/* Returns the time that an agent has for starting another one. mpirun has as long again, if the
 * agent could not. */
int tern_launch_half_ms(const struct tern_launch *launch);

/* Pack and unpack what an agent needs to start others. The unpacked timeout_ms is
 * tern_launch_half_ms. */
void tern_launch_pack(const struct tern_launch *launch, struct tern_parcel *parcel);
void tern_launch_unpack(struct tern_reader *reader, struct tern_launch *ret_launch);

#endif
