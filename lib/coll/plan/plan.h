/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PLAN_H
#define TERN_PLAN_H

/*
 * A plan: what one rank does in a collective, as a list of steps. An algorithm is a pure function
 * from arguments (struct tern_plan_args) to a plan; it neither communicates nor sees an address, a
 * type or a tag.
 *
 * Steps are started in their order. A step is started when
 *  - all steps it names in `after` are complete, and
 *  - all steps that lie `window` or more places before it are complete.
 * Nothing else may be assumed: a step that was started may complete at any later time, a send as
 * late as its receive. Messages between two ranks match in the order of their steps.
 *
 * Most plans have few steps, kept in an array (`head`). Those whose number of steps grows with the
 * number of ranks give the rest by a function (`tail`) that makes step i out of the arguments, so
 * that a ring over a million ranks costs no memory.
 *
 * Ranges of buffers are counted in units, whose extent in memory is the run's matter: of the user's
 * buffers a unit is a byte if their type is contiguous (and nothing is reduced), otherwise an
 * element of the type.
 */

#include "lib/coll/price/price.h"
#include "lib/type/type.h"
#include "lib/util/ints.h"

#include <stdbool.h>
#include <stdint.h>

enum tern_collective {
    TERN_BARRIER,
    TERN_BCAST,
    TERN_GATHER,
    TERN_GATHERV,
    TERN_SCATTER,
    TERN_SCATTERV,
    TERN_ALLGATHER,
    TERN_ALLGATHERV,
    TERN_ALLTOALL,
    TERN_ALLTOALLV,
    TERN_ALLTOALLW,
    TERN_REDUCE,
    TERN_ALLREDUCE,
    TERN_REDUCE_SCATTER_BLOCK,
    TERN_REDUCE_SCATTER,
    TERN_SCAN,
    TERN_EXSCAN,
    TERN_NEIGHBOR_ALLGATHER,
    TERN_NEIGHBOR_ALLGATHERV,
    TERN_NEIGHBOR_ALLTOALL,
    TERN_NEIGHBOR_ALLTOALLV,
    TERN_NEIGHBOR_ALLTOALLW,
    TERN_COLLECTIVES
};

/* Roots of intercommunicators, in the group that has the root. The values of MPI_ROOT and
 * MPI_PROC_NULL are others. */
enum { TERN_ROOT_ME = -1, TERN_ROOT_BESIDE_ME = -2 };

/* Counts and displacements per block, where blocks differ; the caller's memory. Displacements are
 * in elements of the type, with types in bytes. NULL values: that buffer has equal blocks, one
 * after the other. Also the peers of a neighbourhood. */
struct tern_plan_blocks {
    struct tern_ints send_counts, send_displs, recv_counts, recv_displs;
    int64_t send_units, recv_units; /* what one of these numbers stands for */
    const struct tern_type *const *send_types, *const *recv_types; /* one per block, or NULL */
    const int *sources, *destinations;                             /* neighbourhoods only */
};

struct tern_topology; /* lib/coll/price/topology.h */

struct tern_plan_args {
    uint8_t collective;          /* enum tern_collective */
    bool in_place;               /* this rank's input lies in the receive buffer */
    bool commutative;            /* the reduction is */
    bool send_bytes, recv_bytes; /* a unit of that buffer is a byte: it may be cut anywhere */
    bool grid;           /* neighbourhoods only: source i is source i^1 seen from the other side */
    bool inner;          /* a phase of a composed plan: made of no phases itself */
    uint8_t spare;       /* 0 */
    int32_t rank, size;  /* in the local group */
    int32_t remote_size; /* 0: intracommunicator. In a neighbourhood: see neighbor.c */
    int32_t root;        /* rank, of an intercommunicator in the other group, or TERN_ROOT_* */
    int64_t send_count, recv_count;   /* units per block; of reductions and broadcast, recv_count:
                                         units of the vector */
    int64_t send_size, recv_size;     /* bytes of data in a unit */
    int32_t ranks_per_node;
    int32_t sheet; /* bytes that a post on the node's board may have (units, where a phase moves
                      operands: compose.h); 0: there is no board */
    int64_t segment_bytes;            /* what pipelines hand on at a time, > 0 */
    const struct tern_plan_blocks *blocks; /* NULL: all blocks are equal */
    /* Both the same for all plans of a communicator: who stands where (NULL: on one node, or not
     * known), and by what the phases of a composed plan are chosen (NULL: the parameters). */
    const struct tern_topology *topology;
    const struct tern_model *model;
};

/* Units of rank r's block in the receive buffer; prices are asked for without blocks. */
static inline int64_t tern_recv_count(const struct tern_plan_args *args, int r)
{
    const struct tern_plan_blocks *blocks = args->blocks;
    return blocks && blocks->recv_counts.values
               ? blocks->recv_units * tern_ints_at(blocks->recv_counts, r)
               : args->recv_count;
}

static inline int64_t tern_recv_total(const struct tern_plan_args *args)
{
    int64_t total = 0;
    for (int r = 0; r < args->size; r++)
        total += tern_recv_count(args, r);
    return total;
}

/* The arguments up to `blocks` decide about the plan; they have no padding, so that they can be
 * compared as bytes. */
#define TERN_PLAN_KEY_BYTES offsetof(struct tern_plan_args, blocks)

enum tern_buffer {
    TERN_SEND_BUFFER,
    TERN_RECV_BUFFER,
    TERN_TEMPORARY,
    TERN_TEMPORARY_1,
    TERN_TEMPORARY_2,
    TERN_TEMPORARY_3,
    TERN_BUFFERS
};

struct tern_ref {
    int64_t offset; /* units; bytes if `block` is given */
    int64_t count;  /* units; elements of the block's own type if `block` is given */
    int32_t block;  /* -1, or the block whose own type (blocks->send_types, recv_types) is meant */
    uint8_t buffer; /* enum tern_buffer */
};

enum tern_step_kind {
    TERN_STEP_NONE,   /* nothing; but what it names in `after` is complete when it is */
    TERN_STEP_SEND,   /* `from` to rank `peer` */
    TERN_STEP_RECV,   /* `to` from rank `peer` */
    TERN_STEP_REDUCE, /* `to` = `from` op `to`; `from` is the left operand */
    TERN_STEP_COPY,   /* `to` = `from`, types may differ */
    /* The board (lib/node/board.h). These are complete when the next step starts. A plan takes
     * `turns` turns; in each of them every rank posts or takes. */
    TERN_STEP_POST, /* `from` to byte `at` of this rank's post in turn `turn`, of to.count bytes */
    TERN_STEP_TAKE, /* `to` = what rank `peer` has posted in that turn, from byte `at` on */
    TERN_STEP_JOIN, /* `to` = that op `to`; `from` is as much memory, for types with gaps */
};

enum tern_step_flag {
    TERN_STEP_LOCAL =
        1, /* intercommunicator: the peer is in the local group, not in the remote one */
    TERN_STEP_AWAITED = 2, /* the next step, or the end, waits for this one: nothing is lost by
                              waiting for it at once */
    TERN_STEP_MORE = 4,    /* a post: there is more to come before others may see it */
    TERN_STEP_DONE = 8,    /* of the board: this rank needs nothing of the turn any more */
};

struct tern_step {
    uint8_t kind, flags;
    int32_t peer;
    uint64_t after; /* bit k: the step k+1 places before must be complete */
    struct tern_ref from, to;
    uint32_t turn, at; /* of the board only */
};

/* 1 + farthest place that `after` can name, and the most steps in flight. */
enum { TERN_PLAN_WINDOW = 64 };

struct tern_algorithm;

struct tern_plan {
    struct tern_plan_args args;
    const struct tern_algorithm *algorithm;
    int64_t step_count; /* head and tail */
    int64_t head_count;
    struct tern_step *head;
    /* Makes step head_count + i, i >= 0. */
    void (*tail)(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step);
    int64_t own[4];     /* the algorithm's numbers for its tail */
    int64_t *offsets;   /* likewise, an array freed with the plan; NULL: none */
    struct tern_phases *phases; /* plans it is composed of (compose.h); NULL: none */
    int64_t temp_units; /* length of each temporary */
    uint8_t temp_count;
    bool temp_typed; /* a unit of temporaries is one of the receive buffer, otherwise a byte */
    uint8_t window;  /* 1 .. TERN_PLAN_WINDOW */
    bool failed;     /* no memory while it was built */
    uint32_t turns;  /* of the board that it takes; on all ranks of the node as many */
    int32_t post_bytes; /* of the longest post of any of them, rounded up by a few */
    int refs;
    int64_t head_room; /* steps that fit in the array */
};

/* An algorithm: one row of a table in its operation's file. */
struct tern_algorithm {
    const char *name;
    /* Adds the steps. Called with a plan that is empty but for the arguments. */
    void (*build)(struct tern_plan *plan);
    /* Can it do that? Same answer on all ranks. NULL: always. */
    bool (*fits)(const struct tern_plan_args *args);
    /* What it costs (lib/coll/price/price.h). NULL: it is not chosen by price. */
    void (*stages)(const struct tern_shape *shape, struct tern_stages *ret_stages);
};

/* The algorithms of a collective, ended by a NULL name (lib/coll/run/choose.c). `inter`: those of
 * intercommunicators. */
const struct tern_algorithm *tern_plan_algorithms(enum tern_collective collective, bool inter);
/* "bcast", ... */
const char *tern_plan_collective_name(enum tern_collective collective);
/* What to use for these arguments: the parameter coll_NAME_algorithm if it fits, else what costs
 * least. Same answer on all ranks. */
const struct tern_algorithm *tern_plan_choose(const struct tern_plan_args *args,
                                              const struct tern_model *model);

/* What costs least by the model. Without prices: `linear`. */
const struct tern_algorithm *tern_plan_cheapest(const struct tern_plan_args *args,
                                                const struct tern_model *model);

/* The algorithm, which must have stages, by the model. */
double tern_plan_price_ns(const struct tern_algorithm *algorithm, const struct tern_model *model,
                          const struct tern_shape *shape);

/* Builds the plan; one reference is the caller's. args->blocks must outlive it. NULL: no memory. */
struct tern_plan *tern_plan_build(const struct tern_algorithm *algorithm,
                                  const struct tern_plan_args *args);
void tern_plan_release(struct tern_plan *plan);

/* Step i. The result is in the plan, or in *room. */
static inline const struct tern_step *tern_plan_step(const struct tern_plan *plan, int64_t i,
                                                     struct tern_step *room)
{
    if (__builtin_expect(i < plan->head_count, 1))
        return &plan->head[i];
    plan->tail(plan, i - plan->head_count, room);
    return room;
}

/* Recent plans of a communicator (lib/coll/plan/cache.c). */
struct tern_plan_cache;
/* A plan for `args` out of the cache or built; one reference is the caller's. *cache is made on
 * first use. NULL: no memory. */
struct tern_plan *tern_plan_get(struct tern_plan_cache **cache, const struct tern_plan_args *args);
void tern_plan_cache_free(struct tern_plan_cache *cache);

/* The tables, each in its operation's file. */
extern const struct tern_algorithm tern_barrier_algorithms[], tern_bcast_algorithms[],
    tern_gather_algorithms[], tern_gatherv_algorithms[], tern_scatter_algorithms[],
    tern_scatterv_algorithms[], tern_allgather_algorithms[], tern_allgatherv_algorithms[],
    tern_alltoall_algorithms[], tern_alltoallv_algorithms[], tern_reduce_algorithms[],
    tern_allreduce_algorithms[], tern_reduce_scatter_algorithms[],
    tern_reduce_scatter_block_algorithms[], tern_scan_algorithms[],
    tern_exscan_algorithms[], tern_neighbor_algorithms[];
/* For these tables: by way of the board (board_collectives.c). */
void tern_plan_use_board(struct tern_plan *plan);
bool tern_plan_fits_board(const struct tern_plan_args *args);
bool tern_plan_fits_slices(const struct tern_plan_args *args);
void tern_plan_use_slices(struct tern_plan *plan);
void tern_board_stages(const struct tern_shape *shape, struct tern_stages *stages);
void tern_board_apart_stages(const struct tern_shape *shape, struct tern_stages *stages);
void tern_board_bcast_stages(const struct tern_shape *shape, struct tern_stages *stages);
void tern_board_rooted_stages(const struct tern_shape *shape, struct tern_stages *stages);
void tern_board_scan_stages(const struct tern_shape *shape, struct tern_stages *stages);
void tern_board_allreduce_stages(const struct tern_shape *shape, struct tern_stages *stages);
void tern_board_reduce_scatter_stages(const struct tern_shape *shape, struct tern_stages *stages);
void tern_board_reduce_stages(const struct tern_shape *shape, struct tern_stages *stages);
void tern_slices_stages(const struct tern_shape *shape, struct tern_stages *stages);
extern const struct tern_algorithm tern_inter_barrier_algorithms[], tern_inter_bcast_algorithms[],
    tern_inter_gather_algorithms[], tern_inter_scatter_algorithms[],
    tern_inter_allgather_algorithms[], tern_inter_allgatherv_algorithms[],
    tern_inter_alltoall_algorithms[], tern_inter_alltoallv_algorithms[],
    tern_inter_reduce_algorithms[],
    tern_inter_allreduce_algorithms[], tern_inter_reduce_scatter_algorithms[];

#endif
