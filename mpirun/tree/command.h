/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_COMMAND_H
#define TERN_MPIRUN_TREE_COMMAND_H

/* The commands that start agents: ssh, srun. */

#include <sys/types.h>

#include "mpirun/base/strings.h"

/* A command and its surroundings. */
struct tern_command {
    struct tern_strings argv;
    /* variables to remove from its environment, ended by NULL; NULL: none */
    const char *const *without;
    char *with;                 /* NAME=VALUE to add to its environment; NULL: none */
    /* The command ends by itself when this process ends. If false, the kernel kills it then. */
    bool outlives;
};

/* Runs the command in a session of its own, so that it has no terminal to ask for a password on and
 * gets no signal from one. Stores this process's ends of its standard input, output and error.
 * Returns 0, or -1 with errno. Call it before there are threads. */
int tern_command_run(const struct tern_command *command, pid_t *ret_pid, int ret_ours[3]);
/* Waits for the command's end, and kills it after `patience_ms`. Sets *pid to 0. Returns its wait
 * status. Blocks. */
int tern_command_reap(pid_t *pid, int patience_ms);

#endif
