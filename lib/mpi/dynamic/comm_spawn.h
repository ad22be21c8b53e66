/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COMM_SPAWN_H
#define TERN_COMM_SPAWN_H

#include "lib/mpi/dynamic/bridge.h"

/* Connects the processes of MPI_COMM_WORLD to those that have started them by MPI_Comm_spawn, if
 * there are such. Call it at the end of MPI_Init, with the library's lock. Returns 0, or TERN_ERR_*
 * with text. Blocks. */
int tern_spawn_meet_parent(void);

/* Returns the error of an answer from mpirun, with its text: 0 if mpirun has not refused.
 * `otherwise`: the error if mpirun gives none. */
int tern_spawn_refusal(const struct tern_bridge_offer *answer, int otherwise);

#endif
