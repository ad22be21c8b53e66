/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_LAUNCH_H
#define TERN_MPIRUN_TREE_LAUNCH_H

/* How agents are started, and which host starts which: data that every agent gets. */

#include "mpirun/wire/frame.h"

struct tern_launch {
    struct tern_strings
        words; /* plm_rsh_agent and plm_rsh_args: the command that reaches a host; or "srun" */
    const char *program; /* mpirun on the other host */
    int timeout_ms;      /* for a host to answer */
    int silence_ms;      /* heartbeat_timeout; 0: never */
    int width;           /* of the tree */
    int root_host;       /* mpirun's own host in the job, which has no agent; -1: not part of it */
};

/* The host that starts `host`: TERN_ROOT or a smaller number. */
int tern_launch_parent(const struct tern_launch *launch, int host);

/* The time that an agent has for starting another one, and mpirun afterwards if the agent could
 * not. */
int tern_launch_half_ms(const struct tern_launch *launch);

/* What an agent needs of a launch to start others. */
void tern_launch_pack(const struct tern_launch *launch, struct tern_parcel *parcel);
void tern_launch_unpack(struct tern_reader *reader, struct tern_launch *ret_launch);

#endif
