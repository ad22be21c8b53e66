/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_ORPHANS_H
#define TERN_MPIRUN_RANKS_ORPHANS_H

/* Processes that a rank's own process has started and left behind when it ended. The guardian is a
 * subreaper, so they are its children then. One of them may be the rank's MPI program, or the
 * parent of it. The guardian uses this file. */

#include <stdbool.h>
#include <sys/types.h>

#include "lib/util/base/ancestry.h"

/* Remembers how an orphan has ended. Only the last 16384 are kept. */
void tern_orphan_ended(pid_t pid, int wait_status);

/* Finds what stands for an MPI program whose process is the first of `line`, with its ancestors as
 * they were when it began: itself if it is or was a child of this process; else the nearest
 * ancestor that is or was one, as that process gets the program's exit status. Leaves out
 * processes for which `is_rank` returns true. Returns the process, or 0 if there is none.
 * *ret_ended: it has ended, with *ret_status. */
pid_t tern_orphan_of_program(const struct tern_ancestry *line, bool (*is_rank)(pid_t pid),
                             bool *ret_ended, int *ret_status);

/* Returns an orphan whose environment names the rank, for a program whose process is not known; 0
 * if there is none. */
pid_t tern_orphan_of_rank(int rank, bool (*is_rank)(pid_t pid));

/* Marks in `left`, of `ranks` entries, each rank of which an orphan is left: its environment names
 * the rank. Marks all ranks if the environment of an orphan cannot be read. Leaves out processes
 * for which `is_rank` returns true; there are `running` of these. */
void tern_orphans_mark(bool *left, int ranks, int running, bool (*is_rank)(pid_t pid));

#endif
