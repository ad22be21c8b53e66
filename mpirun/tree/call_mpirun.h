/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_CALL_MPIRUN_H
#define TERN_MPIRUN_TREE_CALL_MPIRUN_H

/* Connects an agent that a resource manager has started to mpirun. Reads mpirun's addresses from
 * `in_fd`, then tries them. *ret_fd is the connection, on which both sides have proved that they
 * know the secret. Returns 0, or TERN_ERR_ARG or TERN_ERR_OTHER, with a text that lists the
 * addresses tried and their errors. Blocks. */
int tern_call_mpirun(int in_fd, int *ret_fd);

#endif
