/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAIN_RANK_H
#define TERN_MPIRUN_PLAIN_RANK_H

/* The program of `mpirun --display paths`, `fabric` or `topo` without a program: the library shows
 * these, so mpirun's own binary runs as the ranks. */

/* Runs as a rank: enters MPI, sends a byte to other ranks, and leaves MPI. Returns the exit
 * status. */
int tern_plain_rank_run(void);

#endif
