/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_START_RANK_H
#define TERN_MPIRUN_RANKS_START_RANK_H

/* From the guardian's fork to the exec of a rank. The guardian uses it. */

#include <stdbool.h>
#include <sys/types.h>

#include "mpirun/ranks/guardian.h"

/* A step between fork and exec that has failed. */
struct tern_start_failure {
    int rank, step, error;
};

/* Prepares; call it in the guardian, before anything else here. Returns 0, or -1 with errno. */
int tern_start_open(const struct tern_guardian_start *start);
/* Takes the plan and the descriptors that come with it (TERN_GUARDIAN_PLAN). Returns 0, or -1 with
 * errno. */
int tern_start_take_plan(const struct tern_guardian_message *request, const int fds[3],
                         int fd_count);
/* Starts the rank of a TERN_GUARDIAN_SPAWN, with its stdin, stdout and stderr, which the caller
 * closes. The kernel ends the rank when this process ends. Returns its process, or -1 with
 * errno. */
pid_t tern_start_rank(const struct tern_guardian_message *request, const int fds[3]);
/* Reads the next failure of a started process. Returns false if there is none. */
bool tern_start_next_failure(struct tern_start_failure *ret_failure);

#endif
