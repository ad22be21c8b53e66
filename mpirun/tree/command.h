/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_COMMAND_H
#define TERN_MPIRUN_TREE_COMMAND_H

/* The commands by which agents are started: ssh, srun. */

#include <sys/types.h>

#include "mpirun/base/strings.h"

struct tern_command {
    struct tern_strings argv;
    /* variables that it does not get, ended by NULL; NULL: it gets all */
    const char *const *without;
    char *with;                 /* NAME=VALUE that it gets besides; NULL */
    /* it ends by itself when this process does; else it is killed then */
    bool outlives;
};

/* Runs it in a session of its own, so that it has no terminal to ask for a password on and gets no
 * signal of one. Fills in our ends of its standard input, output and error. 0, or -1 with errno.
 * Before there are threads. */
int tern_command_run(const struct tern_command *command, pid_t *ret_pid, int ret_ours[3]);
/* Its wait status, once it has ended; after `patience_ms` it is killed. Sets *pid to 0. */
int tern_command_reap(pid_t *pid, int patience_ms);

#endif
