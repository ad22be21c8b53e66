/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_LEFTOVER_H
#define TERN_MPIRUN_RANKS_LEFTOVER_H

/* Describes processes that ranks have left behind, for messages. The guardian uses it. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Remembers where a rank's standard output and error go: fds[1] and fds[2]. */
void tern_leftover_note(int rank, const int fds[3]);

enum { TERN_RANK_UNKNOWN = -2 };
/* Returns the rank that the process's environment names; -1 if it names none; TERN_RANK_UNKNOWN if
 * the environment cannot be read, or is empty, as it is for a moment while a program is
 * executed. */
int tern_leftover_rank_of(pid_t pid);

/* Writes the command line of a process into `text`. *ret_rank is the rank whose output it holds
 * open; else the rank that its environment names; else -1. Returns true if the process holds a
 * rank's output open. Returns false without /proc, and for processes of other users. */
bool tern_leftover_describe(pid_t pid, int *ret_rank, char *text, size_t room);

#endif
