/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COMPOSE_H
#define TERN_COMPOSE_H

/*
 * Plans composed of plans. A phase is the plan of any other algorithm, run by a group: the ranks of
 * a node, or one leader of each node. The phase's ranks, buffers and temporaries are mapped to
 * those of the whole plan. A phase begins when the phase before is complete on this rank. The
 * algorithm of a phase is chosen by price, as for any call.
 *
 * All temporaries of a composed plan lie in one temporary. Its units are the receive buffer's in
 * reductions, and bytes in other collectives. It begins with what the algorithm keeps from phase to
 * phase (`kept`); behind lies what the phases need. So that lengths agree, a phase of a reduction
 * that only moves data counts each element as one byte.
 *
 * If the ranks of a node have a board, phases within nodes may use the board. Their turns become
 * turns of the whole plan; each node uses as many turns as its phases need.
 */

#include "lib/coll/plan/build.h"
#include "lib/coll/price/topology.h"

/* A group of ranks, as one of its ranks sees it. */
struct tern_subgroup {
    enum tern_level level;
    /* local rank of the leaders in their nodes; TERN_LAST_LOCAL_RANK: the last */
    int32_t local_rank;
    int32_t root;       /* a rank that leads its node instead of that local rank; -1: none */
    /* this rank's number in the group, -1: not in the group; and the size of the group */
    int32_t rank, size;
};

enum { TERN_LAST_LOCAL_RANK = -1 };

/* Returns the ranks of this rank's node. */
struct tern_subgroup tern_subgroup_in_node(const struct tern_plan_args *args);
/* Returns the leaders of all nodes (tern_leader_of). */
struct tern_subgroup tern_subgroup_among_leaders(const struct tern_plan_args *args,
                                                 int32_t local_rank, int32_t root);
/* Returns the local group of an intercommunicator. */
struct tern_subgroup tern_subgroup_local(const struct tern_plan_args *args);
/* Returns all ranks, with their own numbers (for an intercommunicator the remote ones): for steps
 * of the algorithm itself. */
struct tern_subgroup tern_subgroup_of_all(const struct tern_plan_args *args);
/* Returns the rank that leads a node: `root` if it is on the node, else the rank with that local
 * rank. */
int32_t tern_leader_of(const struct tern_topology *topology, int32_t node, int32_t local_rank,
                       int32_t root);

/* A phase of a composed plan. */
struct tern_phase {
    struct tern_subgroup group;
    struct tern_plan_args args; /* arguments of the inner plan */
    struct tern_plan_blocks blocks;  /* memory for args.blocks, set by tern_phase_set_blocks */
    /* where the phase's buffers begin in the whole plan's buffers; `count` does not matter */
    struct tern_ref send, recv;
    const struct tern_algorithm *algorithm; /* NULL: the cheapest */
    /* leaders of a node that run a like phase at the same time; 1 unless set */
    int lanes;
    /* The rest belongs to lib/coll/plan/compose.c. */
    struct tern_plan *plan;
    int64_t first;       /* number of its first step in the whole plan */
    uint32_t first_turn; /* number of its first turn in the whole plan */
    int64_t temporaries; /* where its temporaries begin in the whole plan's temporary, in units */
    int64_t unit_bytes;  /* real bytes per byte of the inner plan */
    /* counts and displacements of blocks, [0] received and [1] sent; NULL: none */
    int64_t *numbers[2];
};

/* The most phases of a composed plan. */
enum { TERN_PHASES = 12 };

/* The phases of a composed plan, in their order. */
struct tern_phases {
    int count;
    int64_t kept; /* units at the begin of the temporary that are kept from phase to phase */
    struct tern_phase phase[TERN_PHASES];
};

/* Begins a composed plan that keeps `units` of its temporary from phase to phase. */
void tern_plan_compose(struct tern_plan *plan, int64_t units);
/* Returns a reference to `count` units of the kept part, from `offset` on. */
static inline struct tern_ref in_kept(int64_t offset, int64_t count)
{
    return in_temp(0, offset, count);
}

/*
 * Adds the next phase. The caller fills it in: so far args has the group's rank, size,
 * commutativity and segments, equal blocks of length 0, and root 0. Returns NULL if this rank is
 * not in the group, or the group has nothing to do.
 */
struct tern_phase *tern_plan_add_phase(struct tern_plan *plan, enum tern_collective collective,
                                       struct tern_subgroup group);
/* Set what the phase sends and receives, and the length: in units of the user's buffer if `block`
 * lies there, else in units of the temporary. */
void tern_phase_send(const struct tern_plan *plan, struct tern_phase *phase, struct tern_ref block);
void tern_phase_recv(const struct tern_plan *plan, struct tern_phase *phase, struct tern_ref block);
/* Gives the phase `count` unequal blocks. Returns an array of 2 * count numbers, counts and then
 * displacements, which the caller fills. Call once for what is sent, once for what is received.
 * Returns NULL if there is no memory; then the plan fails. */
int64_t *tern_phase_set_blocks(struct tern_plan *plan, struct tern_phase *phase, int count,
                               bool sends);
/* Sets the displacements of such blocks so that the blocks follow each other. Does nothing if
 * `numbers` is NULL. */
void tern_blocks_lie_in_a_row(int64_t *numbers, int count);
/* Adds a phase that copies. */
void tern_plan_add_copy_phase(struct tern_plan *plan, struct tern_ref from, struct tern_ref to);
/* Ends the composed plan: builds its phases. */
void tern_plan_finish(struct tern_plan *plan);

/* Frees the phases and their plans. `phases` may be NULL. */
void tern_phases_free(struct tern_phases *phases);

/* Adds the price of a phase: of `collective` in the group of that level, with `bytes` bytes, by the
 * cheapest algorithm. */
void tern_stages_add_phase(struct tern_stages *stages, const struct tern_shape *shape,
                           enum tern_collective collective, enum tern_level level, int lanes,
                           int64_t bytes);
/* Adds the price of a phase whose algorithm is given; `of` adds the algorithm's stages. */
void tern_stages_add_level(struct tern_stages *stages, const struct tern_shape *shape,
                           void (*of)(const struct tern_shape *, struct tern_stages *),
                           enum tern_level level, int lanes, int64_t bytes);

#endif
