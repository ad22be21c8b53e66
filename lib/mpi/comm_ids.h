/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COMM_IDS_H
#define TERN_COMM_IDS_H

/*
 * Ids for the communicators that are made from a communicator.
 *
 * A communicator has a supply of ids that all its processes know. Creations are collective, so all
 * processes take the same id for the same creation. Most creations therefore need no message and
 * wait for nobody. When the supply is used up, the processes agree on a block of ids, larger each
 * time. A block has several ids for each communicator that will be made: its own, and a first
 * supply for its duplicates.
 *
 * Ids are unique because one process makes a whole block from its own numbers, and keeps these
 * numbers until nobody can take an id of the block any more (lib/pml/ids.h). Within a block each
 * communicator has ids of its own, and hands out each of them once.
 */

#include "lib/pml/request.h"

#include <stdint.h>

struct tern_comm;
struct tern_comm_ids; /* the supply; in comm.h, for each communicator has one */
struct tern_id_block;

/* A taken id. Its value is known when the block's agreement is complete. Holds a reference to the
 * block. */
struct tern_id {
    struct tern_id_block *block;
    /* the first one in the block; how many there are, with those for duplicates */
    uint32_t index, count;
};

/* Takes the next id. Collective over `comm`, which may be an intercommunicator; does not block. If
 * no id is left, starts the agreement on the next block. 0 or TERN_ERR_NO_MEM. With the library's
 * lock. */
int tern_id_take(struct tern_comm *comm, struct tern_id *ret_id);
/* The same; blocks until the value is known. 0 or what the agreement failed with; then no id is
 * held. */
int tern_id_agree(struct tern_comm *comm, struct tern_id *ret_id);

/* Gives the ids that were taken along with `id` to the duplicate that was made with it. With the
 * library's lock. */
void tern_id_give_rest(struct tern_id *id, struct tern_comm *twin);
/* Ends the use of an id; one that is zero is left alone. With no lane in hand. */
void tern_id_drop(struct tern_id *id);

/* Blocks until the value is known. 0 or what the agreement failed with. */
int tern_id_await(const struct tern_id *id);
/* The value; 0 if no id is left, which tern_comm_connect refuses. Only after tern_id_agree or
 * tern_id_await, or when the request of tern_id_complete_when_known is complete without an error.
 */
uint64_t tern_id_value(const struct tern_id *id);

/* Lets `request` complete when the value is known, with 0 or what the agreement failed with. The
 * request is active, and its `owner` is used for this. */
void tern_id_complete_when_known(const struct tern_id *id, struct tern_request *request);

/* For the end of a communicator. */
void tern_comm_ids_drop(struct tern_comm_ids *ids);

#endif
