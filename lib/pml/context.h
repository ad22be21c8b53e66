/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CONTEXT_H
#define TERN_CONTEXT_H

/*
 * A context separates messages: a message sent in one context is never received in another. A
 * communicator has two contexts, one for point to point and one for its collectives. Each message
 * carries the id of its context.
 *
 * An id has 64 bits: the job, the rank of the process that led the creation, and a number chosen by
 * that process. So ids are unique without agreement. The leader tells its id to the other processes
 * in a step that the creation needs anyway, or hands out many ids ahead of time
 * (lib/mpi/comm/comm_ids.c). Even ids serve point to point. The odd id above serves the collectives
 * of the same communicator. Both sides of an intercommunicator use one id. Their local groups use
 * an id derived from it (tern_context_local_id). The id with TERN_CONTEXT_PARTITIONED serves the
 * communicator's partitioned communication. All ids of a communicator name the same lane.
 */

#include "lib/btl/peer.h"
#include "lib/pml/ids.h"

#include <stdbool.h>
#include <stdint.h>

struct tern_lane;
struct tern_pml_request;

/*
 * Maps ranks to peers. All contexts over the same group in the same lane share one table. A peer is
 * made when something is first sent to its process (tern_context_peer). Until then the entry points
 * to tern_peer_stranger, whose `eager_below` is 0, so that no message is short enough to go at
 * once. A rank with which no messages are exchanged costs one pointer here, and its sequence
 * numbers.
 */
struct tern_peers {
    int refs;
    int count;
    int run_count;
    bool far; /* some ranks are processes of other jobs */
    struct tern_run *runs; /* processes of the ranks; the array lies behind the last peer */
    struct tern_peer *peer[];
};

/* Stands for a peer that was not made yet. */
extern struct tern_peer tern_peer_stranger;

/* Returns the process of `rank`. */
static inline struct tern_process tern_peers_process(const struct tern_peers *peers, int rank)
{
    return tern_runs_process(peers->runs, peers->run_count, rank);
}

/* A context. */
struct tern_context {
    uint64_t id;
    struct tern_lane *lane;    /* the lane that the id names */
    int rank;                  /* this process's rank in the local group */
    /* number of ranks that can be sent to: size of the local group, or of the remote group of an
     * intercommunicator */
    int size;
    struct tern_peers *peers;  /* peers of these ranks */
    uint16_t *send_seq;        /* next sequence number of a message to each rank */
    uint16_t *recv_seq;        /* next sequence number expected from each rank */
    /* the receive that was posted while no other receive was; it is in no queue. NULL if that
     * receive has been matched or withdrawn */
    struct tern_pml_request *first;
    /* number of receives in queues that have a wildcard; if 0, matching looks for exact keys
     * only */
    uint32_t posted_wild;
    /* lengths of the queues of this context: posted receives, unexpected messages; for tools */
    uint64_t posted_length, unexpected_length;
    /* unexpected messages in order of arrival; [0] those of the user, [1] those with internal
     * tags */
    struct tern_list_node arrived[2];
    /* unexpected messages are also in queues by wildcards (lib/pml/match.h) */
    bool by_wildcards;
    bool called_any; /* far_sources.c: the sources of a receive from any source were called */
    void *comm;                /* struct tern_comm of this context, for error handlers */
    struct tern_context *hash_next;
};

#define TERN_CONTEXT_PARTITIONED (1ull << 63)

/* Returns true if the context serves collectives. */
static inline bool tern_context_is_internal(const struct tern_context *context)
{
    return context->id & 1;
}

/* From now on, makes ids that differ from those of other jobs, too. `job` of `length` bytes is what
 * distinguishes this job. Called before this process makes an id for processes of several jobs.
 * Locks: the library's. Returns 0, or TERN_ERR_OTHER with text. */
int tern_context_mark_ids(const unsigned char *job, size_t length);

/* Makes a fresh even id, unique in this job (lib/pml/context.c). Returns 0 if none is left because
 * 2^27 communicators are open. Call with the library's lock held. */
uint64_t tern_context_new_id(void);

/* Makes `count` fresh even ids, each 2 above the one before. They stay the caller's until
 * tern_ids_drop(range). Returns the first id, or 0 as tern_context_new_id. Call with the library's
 * lock held. */
uint64_t tern_context_new_ids(uint32_t count, struct tern_id_range *range);

/* Returns the id that the local groups of the intercommunicator `id` use. Both groups may use the
 * same one because they are disjoint. */
static inline uint64_t tern_context_local_id(uint64_t id)
{
    return id | (uint64_t)1 << 62;
}

/* Opens `context`: from now on messages for the context are matched. Delivers the messages that
 * arrived before. Retains `peers`. Returns 0 or TERN_ERR_NO_MEM. */
int tern_context_open(struct tern_context *context, uint64_t id, int rank, struct tern_peers *peers,
                      void *comm);

/* Closes `context`. Drops messages that were never received. All receives must have completed:
 * their callers hold the context (through the communicator) while a receive is active. Sends that
 * have been started no longer need the context. */
void tern_context_close(struct tern_context *context);

/* Returns the peer of a rank; makes the peer if there is none yet. Returns NULL if there is no
 * memory. Call with the lane's lock held. */
struct tern_peer *tern_context_peer(struct tern_context *context, int rank);
/* Returns the peer of a rank if there is one. Returns NULL if nothing has been sent or received
 * between the two processes in this lane. */
struct tern_peer *tern_context_known_peer(const struct tern_context *context, int rank);

/* Makes the table of `count` processes, described by `runs` (copied). The caller owns one
 * reference. Returns NULL if there is no memory. */
struct tern_peers *tern_peers_new(int count, const struct tern_run *runs, int run_count);
/* Drops one reference; frees the table with the last one. `peers` may be NULL. */
void tern_peers_release(struct tern_peers *peers);

#endif
