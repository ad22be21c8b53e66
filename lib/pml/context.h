/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CONTEXT_H
#define TERN_CONTEXT_H

/*
 * A context: who may talk to whom, apart from every other context. A communicator has two, one for
 * point to point and one for its collectives. Messages carry the context's id.
 *
 * Ids are 64 bits: job, rank and a number of the process that led the creation, so they are unique
 * without agreement. The leader tells its id to the others in a step that the creation has anyway,
 * or many ids ahead (lib/mpi/comm_ids.c). Even ids: point to point; the odd id above it:
 * collectives. Both sides of an intercommunicator use the same id, and for their local groups one
 * that follows from it. With TERN_CONTEXT_PARTITIONED it is that of the communicator's partitioned
 * communication. All ids of a communicator name the same lane.
 */

#include "lib/btl/peer.h"
#include "lib/pml/ids.h"

#include <stdbool.h>
#include <stdint.h>

struct tern_lane;
struct tern_pml_request;

/*
 * Rank -> peer, shared by all contexts over the same group in the same lane. What is needed to talk
 * with a process is made when something is first sent to it (tern_context_peer): until then its
 * place has tern_peer_stranger, to whom no message is short enough to go at once. So a rank with
 * whom nobody talks takes one address here, and its sequence numbers.
 */
struct tern_peers {
    int refs;
    int count;
    int run_count;
    struct tern_run *runs; /* who they are; behind the last peer */
    struct tern_peer *peer[];
};

extern struct tern_peer tern_peer_stranger;

static inline struct tern_process tern_peers_process(const struct tern_peers *peers, int rank)
{
    return tern_runs_process(peers->runs, peers->run_count, rank);
}

struct tern_context {
    uint64_t id;
    struct tern_lane *lane;    /* the one that the id names */
    int rank;                  /* mine in the local group */
    /* ranks that can be sent to: the local group's, or the remote group's of an intercommunicator
     */
    int size;
    struct tern_peers *peers;  /* `size` of them */
    uint16_t *send_seq;        /* next sequence number to each rank */
    uint16_t *recv_seq;        /* next expected from each rank */
    /* the receive that was posted when no other was; it stands in no queue. NULL: it has gone */
    struct tern_pml_request *first;
    /* receives with a wildcard in queues, so that matching may look for exact ones only */
    uint32_t posted_wild;
    /* receives and messages that wait in it, for tools */
    uint64_t posted_length, unexpected_length;
    /* unexpected messages in their order; [1]: those with internal tags */
    struct tern_list_node arrived[2];
    bool by_wildcards;         /* they also stand in queues by wildcards (lib/pml/match.h) */
    void *comm;                /* struct tern_comm it belongs to, for error handlers */
    struct tern_context *hash_next;
};

#define TERN_CONTEXT_PARTITIONED (1ull << 63)

/* Does it serve collectives? */
static inline bool tern_context_is_internal(const struct tern_context *context)
{
    return context->id & 1;
}

/* A fresh even id; unique in this job (lib/pml/context.c). Returns 0 if none is left: 2^27
 * communicators are open. With the library's lock. */
uint64_t tern_context_new_id(void);

/* Returns the first of `count` fresh even ids, each 2 above the one before, or 0 as above. They
 * stay this caller's until tern_ids_drop(range). With the library's lock. */
uint64_t tern_context_new_ids(uint32_t count, struct tern_id_range *range);

/* Id for the local groups (they are disjoint) of the intercommunicator `id`. */
static inline uint64_t tern_context_local_id(uint64_t id)
{
    return id | (uint64_t)1 << 62;
}

/* Makes `context` known, so that messages for it are matched; early messages that wait for it are
 * delivered. `peers` is retained. 0 or TERN_ERR_NO_MEM. */
int tern_context_open(struct tern_context *context, uint64_t id, int rank, struct tern_peers *peers,
                      void *comm);

/* The reverse. Messages that were never received are dropped. Receives must have completed: callers
 * hold the context (through the communicator) while one is active. Sends that have been started do
 * without it. */
void tern_context_close(struct tern_context *context);

/* The peer of a rank, made if need be; with the lane's lock. NULL: no memory. */
struct tern_peer *tern_context_peer(struct tern_context *context, int rank);
/* The same if it has been made; NULL: nothing has passed between us. */
struct tern_peer *tern_context_known_peer(const struct tern_context *context, int rank);

/* Of `count` processes; one reference is the caller's. NULL: no memory. */
struct tern_peers *tern_peers_new(int count, const struct tern_run *runs, int run_count);
void tern_peers_release(struct tern_peers *peers);

#endif
