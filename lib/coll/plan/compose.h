/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COMPOSE_H
#define TERN_COMPOSE_H

/*
 * Plans composed of plans. A phase is any other algorithm's plan, run by a group: the ranks of a
 * node, or one leader of each node. Its ranks, buffers and temporaries become those of the whole,
 * and it begins when the phase before is complete on this rank. Which algorithm a phase is, is
 * chosen by price like any other's.
 *
 * All temporaries of a composed plan lie in one, whose units are the receive buffer's in reductions
 * and bytes elsewhere; first what the algorithm keeps from phase to phase, then what its phases
 * need. So that lengths agree, the data that a phase of a reduction only moves count as bytes, one
 * per element.
 *
 * Where the ranks of a node have a board, phases within nodes may use it: their turns become turns
 * of the whole, on each node as many as it needs.
 */

#include "lib/coll/plan/build.h"
#include "lib/coll/price/topology.h"

/* A group of ranks, as one of them sees it. */
struct tern_subgroup {
    enum tern_level level;
    int32_t local_rank; /* of the leaders in their nodes; TERN_LAST_LOCAL_RANK: the last */
    int32_t root;       /* leads its node instead; -1: none */
    int32_t rank, size; /* among the group; rank -1: this one is not in it */
};

enum { TERN_LAST_LOCAL_RANK = -1 };

struct tern_subgroup tern_subgroup_in_node(const struct tern_plan_args *args);
struct tern_subgroup tern_subgroup_among_leaders(const struct tern_plan_args *args,
                                                 int32_t local_rank, int32_t root);
/* The local group of an intercommunicator. */
struct tern_subgroup tern_subgroup_local(const struct tern_plan_args *args);
/* All ranks, as they are (of an intercommunicator the remote ones): for steps of the algorithm's
 * own. */
struct tern_subgroup tern_subgroup_of_all(const struct tern_plan_args *args);
/* Who leads a node: its rank of that local rank, or `root` if it stands there. */
int32_t tern_leader_of(const struct tern_topology *topology, int32_t node, int32_t local_rank,
                       int32_t root);

struct tern_phase {
    struct tern_subgroup group;
    struct tern_plan_args args; /* of the inner plan */
    struct tern_plan_blocks blocks;  /* for args.blocks, set by tern_phase_set_blocks */
    /* Where its buffers begin in the whole's: lengths do not matter. */
    struct tern_ref send, recv;
    const struct tern_algorithm *algorithm; /* NULL: the cheapest */
    int lanes;                              /* leaders of a node that do the like; 1 unless set */
    /* The rest is lib/coll/plan/compose.c's. */
    struct tern_plan *plan;
    int64_t first;       /* step of the whole */
    uint32_t first_turn; /* of the whole */
    int64_t temporaries; /* unit of the whole's temporary where its own begin */
    int64_t unit_bytes;  /* of what is a byte to it */
    int64_t *numbers[2]; /* counts and displacements, received and sent */
};

enum { TERN_PHASES = 12 };

struct tern_phases {
    int count;
    int64_t kept; /* units of the temporary in front of the phases' own */
    struct tern_phase phase[TERN_PHASES];
};

/* Begins a composed plan, which keeps `units` of its temporary for itself. */
void tern_plan_compose(struct tern_plan *plan, int64_t units);
/* What it keeps: `count` units from `offset` on. */
static inline struct tern_ref in_kept(int64_t offset, int64_t count)
{
    return in_temp(0, offset, count);
}

/*
 * The next phase, to be filled: args has rank, size, commutativity and segments of the group, equal
 * blocks of no length, and root 0. NULL: this rank is not in the group, or has nothing to do in it.
 */
struct tern_phase *tern_plan_add_phase(struct tern_plan *plan, enum tern_collective collective,
                                       struct tern_subgroup group);
/* What the phase sends and receives, and its length: in units of the user's buffer where that is
 * meant, else in those of the temporary. */
void tern_phase_send(const struct tern_plan *plan, struct tern_phase *phase, struct tern_ref block);
void tern_phase_recv(const struct tern_plan *plan, struct tern_phase *phase, struct tern_ref block);
/* `count` unequal blocks: the array of 2 * count numbers, counts and then displacements, is to be
 * filled. Once for what is sent, once for what is received. NULL: no memory; the plan will fail. */
int64_t *tern_phase_set_blocks(struct tern_plan *plan, struct tern_phase *phase, int count,
                               bool sends);
/* Sets the displacements of such blocks: each behind the one before. NULL: does nothing. */
void tern_blocks_lie_in_a_row(int64_t *numbers, int count);
/* A phase that copies. */
void tern_plan_add_copy_phase(struct tern_plan *plan, struct tern_ref from, struct tern_ref to);
/* Ends the plan: builds the phases. */
void tern_plan_finish(struct tern_plan *plan);

void tern_phases_free(struct tern_phases *phases);

/* Price of a phase: what `collective` takes a group with that many bytes. */
void tern_stages_add_phase(struct tern_stages *stages, const struct tern_shape *shape,
                           enum tern_collective collective, enum tern_level level, int lanes,
                           int64_t bytes);
/* The same of an algorithm that is not to be chosen. */
void tern_stages_add_level(struct tern_stages *stages, const struct tern_shape *shape,
                           void (*of)(const struct tern_shape *, struct tern_stages *),
                           enum tern_level level, int lanes, int64_t bytes);

#endif
