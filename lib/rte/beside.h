/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RTE_BESIDE_H
#define TERN_RTE_BESIDE_H

/* Starts mpirun for a program that no launcher has started, and that wants further processes. */

/* Starts this installation's mpirun beside this process and gives it the question
 * (lib/util/net/question.h). mpirun ends its job when this process ends. Sets *ret_fd to a
 * descriptor that the caller closes; it hangs up when mpirun ends. Returns 0, or TERN_ERR_SPAWN
 * with text. */
int tern_rte_start_beside(const char *question, int *ret_fd);

#endif
