/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CONNECTED_H
#define TERN_CONNECTED_H

/*
 * The communicators by which jobs became connected (MPI-4.1 section 11.10.4). Each one is parted
 * exactly once in each of its processes, by a barrier over both groups: in MPI_Comm_disconnect, or
 * else in MPI_Finalize, which waits for connected jobs. MPI_Comm_free only takes the user's handle
 * away. So the two groups may part in different ways, and none waits in vain.
 */

#include "lib/mpi/object/comm.h"

/* Notes a new communicator between jobs. Takes a reference. Returns 0 or TERN_ERR_NO_MEM. */
int tern_connected_add(struct tern_comm *comm);
/* Returns true if the communicator was noted and is not parted yet. */
bool tern_connected_has(const struct tern_comm *comm);
/* Parts one of them: waits until all processes of both groups do. Drops the reference. Blocks.
 * Returns 0, or TERN_ERR_UNREACHABLE if a process of the other group is lost. */
int tern_connected_part(struct tern_comm *comm);
/* Parts all communicators that are left, at the same time. Ignores failures. Blocks. */
void tern_connected_part_all(void);

/* The communicator to the processes that have started this one; NULL if there is none. Set by the
 * start of the World Model. */
extern struct tern_comm *tern_connected_parent;

#endif
