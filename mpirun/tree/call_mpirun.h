/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_CALL_MPIRUN_H
#define TERN_MPIRUN_TREE_CALL_MPIRUN_H

/* An agent that a resource manager has started reads its directions from `in_fd`, and calls mpirun.
 * *ret_fd: the connection, on which both have proved that they know the secret. Blocks.
 * TERN_ERR_ARG or TERN_ERR_OTHER: which addresses were tried, and what came of it. */
int tern_call_mpirun(int in_fd, int *ret_fd);

#endif
