/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COMM_IDS_H
#define TERN_COMM_IDS_H

/*
 * Ids for the communicators that are made from a communicator.
 *
 * A communicator has a supply of ids that all its processes know. Creations are collective, so all
 * processes take the same id for the same creation. Most creations therefore send no id. When the
 * supply is used up, the processes agree on a new block of ids, larger each time. A block has
 * several ids for each communicator that will be made: its own id, and a first supply for its
 * duplicates.
 *
 * Ids are unique, because one process makes a whole block from its own numbers. That process keeps
 * these numbers until no process can take an id of the block any more (lib/pml/ids.h). Within a
 * block each communicator has ids of its own, and hands out each of them once.
 */

#include "lib/pml/request.h"

#include <stdint.h>

struct tern_comm;
struct tern_comm_ids; /* the supply; defined in comm.h, because each communicator has one */
struct tern_id_block;

/* A taken id. Holds a reference to its block. The value is known when the agreement on the block is
 * complete. */
struct tern_id {
    struct tern_id_block *block;
    /* index of the first id in the block; number of ids, including those for duplicates */
    uint32_t index, count;
    struct tern_request *meeting; /* a barrier under way; NULL if there is none */
};

/* Takes the next id, and starts a barrier if creations synchronize. If no id is left, starts the
 * agreement on the next block. Collective over `comm`, which may be an intercommunicator; does not
 * block. Needs the library's lock. Returns 0, or an error; then holds no id. */
int tern_id_start(struct tern_comm *comm, struct tern_id *ret_id);
/* Takes the next id, and waits until its value is known and all processes of `comm` have called
 * (tern_comm_meet). Returns 0, or an error; then holds no id. Blocks. */
int tern_id_agree(struct tern_comm *comm, struct tern_id *ret_id);

/* Returns true if creations synchronize: the parameter mpi_comm_synchronize. */
bool tern_comm_synchronizes(void);
/* Waits until all processes of `comm` have called this function, if creations synchronize. The MPI
 * standard does not ask for it, but programs rely on it, because Open MPI and MPICH agree on an id
 * in each creation. Blocks. Returns 0, or the error of the barrier. */
int tern_comm_meet(struct tern_comm *comm);

/* Gives the ids that were taken together with `id` to `twin`, the duplicate that was made with
 * `id`. Needs the library's lock. */
void tern_id_give_rest(struct tern_id *id, struct tern_comm *twin);
/* Drops an id whose value is known. Does nothing to a zeroed one. Hold no lane. */
void tern_id_drop(struct tern_id *id);

/* Waits until the value is known and the barrier has ended. Returns 0, or the error of one of them.
 * Blocks. */
int tern_id_await(struct tern_id *id);
/* Returns the value, or 0 if no id is left; tern_comm_connect refuses 0. Call it only after
 * tern_id_agree or tern_id_await, or after the request of tern_id_complete_when_known completed
 * without error. */
uint64_t tern_id_value(const struct tern_id *id);

/* Lets `request` complete when the value is known and the barrier has ended, with 0 or with the
 * error of one of them. Takes the barrier out of `id`. The request is active and in the lane of the
 * communicator's collectives. Uses the request's `owner`. */
void tern_id_complete_when_known(struct tern_id *id, struct tern_request *request);

/* Drops the supply of a communicator that is being freed. */
void tern_comm_ids_drop(struct tern_comm_ids *ids);

#endif
