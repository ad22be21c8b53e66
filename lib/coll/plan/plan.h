/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PLAN_H
#define TERN_PLAN_H

/*
 * A plan: what one rank does in a collective, as a list of steps. An algorithm is a pure function
 * from arguments (struct tern_plan_args) to a plan. It does not communicate, and does not see
 * addresses, types or tags.
 *
 * Steps are started in their order. A step is started when
 *   - all steps it names in `after` are complete, and
 *   - all steps that lie `window` or more places before it are complete.
 * Assume nothing else: a started step may complete at any later time, a send as late as its
 * receive. Messages between two ranks match in the order of their steps.
 *
 * Most plans have few steps, kept in an array (`head`). If the number of steps grows with the
 * number of ranks, a function (`tail`) makes the rest: it computes step i from the arguments. So a
 * ring over a million ranks costs no memory.
 *
 * Ranges of buffers are counted in units. The run of the plan decides how large a unit is in
 * memory. In the user's buffers a unit is a byte if their type is contiguous (and nothing is
 * reduced), otherwise an element of the type.
 */

#include "lib/coll/price/price.h"
#include "lib/type/type.h"
#include "lib/util/base/ints.h"

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

/* Roots of intercommunicators, in the group that has the root: this rank is the root, or another
 * rank of this group is. MPI_ROOT and MPI_PROC_NULL have other values. */
enum { TERN_ROOT_ME = -1, TERN_ROOT_BESIDE_ME = -2 };

/* Counts and displacements per block, if blocks differ. The arrays belong to the caller.
 * Displacements are in elements of the type; if there are types per block, in bytes. If `values` is
 * NULL, the blocks of that buffer are equal and follow each other. Also holds the peers of a
 * neighbourhood. */
struct tern_plan_blocks {
    struct tern_ints send_counts, send_displs, recv_counts, recv_displs;
    int64_t send_units, recv_units; /* units per element that these numbers count */
    const struct tern_type *const *send_types, *const *recv_types; /* one type per block, or NULL */
    /* neighbourhoods only: ranks of the neighbours */
    const int *sources, *destinations;
};

struct tern_topology; /* lib/coll/price/topology.h */

/* The arguments of a plan: what an algorithm knows of a call. */
struct tern_plan_args {
    uint8_t collective;          /* enum tern_collective */
    bool in_place;               /* this rank's input is in the receive buffer */
    bool commutative;            /* the reduction is commutative */
    /* a unit of that buffer is a byte, so that it may be cut anywhere */
    bool send_bytes, recv_bytes;
    /* neighbourhoods only: a Cartesian grid, so neighbours 2d and 2d + 1 are the pair of dimension
     * d; their receives start in reverse order (neighbor.c) */
    bool grid;
    bool inner;          /* the plan is a phase of a composed plan, so it has no phases itself */
    /* all ranks' buffers are in device memory: the plan should have few and long steps */
    bool on_device;
    int32_t rank, size;  /* rank and number of ranks in the local group */
    /* size of the remote group; 0: intracommunicator. In a neighbourhood: see neighbor.c */
    int32_t remote_size;
    /* rank of the root, for an intercommunicator in the other group; or TERN_ROOT_* */
    int32_t root;
    /* units per block; of reductions and broadcast, recv_count has the units of the vector */
    int64_t send_count, recv_count;
    int64_t send_size, recv_size;     /* bytes of data in a unit */
    int32_t ranks_per_node;
    /* bytes that a post on the node's board can have (units, if a phase moves operands: compose.h);
     * 0: no board */
    int32_t sheet;
    int32_t node_sheet; /* the same if each node has its board, for prices; 0: no boards */
    int64_t segment_bytes;            /* bytes of a segment of a pipeline, > 0 */
    const struct tern_plan_blocks *blocks; /* NULL: all blocks are equal */
    /* Both are the same for all plans of a communicator. topology: nodes of the ranks; NULL if all
     * are on one node or the nodes are not known. model: prices for choosing the phases of a
     * composed plan; NULL: the parameters'. */
    const struct tern_topology *topology;
    const struct tern_model *model;
    /* buffers in device memory: the order of this node's ranks, if it is known where their GPUs
     * are; or NULL. If these are all ranks, ranks may be places in it (build.h) */
    const struct tern_device_order *order;
};

/* Returns the units of rank r's block in the receive buffer. Without `blocks` (prices are asked for
 * without them) all blocks are equal. */
static inline int64_t tern_recv_count(const struct tern_plan_args *args, int r)
{
    const struct tern_plan_blocks *blocks = args->blocks;
    return blocks && blocks->recv_counts.values
               ? blocks->recv_units * tern_ints_at(blocks->recv_counts, r)
               : args->recv_count;
}

/* Returns the units of all ranks' blocks in the receive buffer. */
static inline int64_t tern_recv_total(const struct tern_plan_args *args)
{
    int64_t total = 0;
    for (int r = 0; r < args->size; r++)
        total += tern_recv_count(args, r);
    return total;
}

/* The arguments before `blocks` determine the plan. They have no padding, so that they can be
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

/* A range of a buffer. */
struct tern_ref {
    int64_t offset; /* in units; in bytes if `block` is not -1 */
    int64_t count;  /* in units; in elements of the block's own type if `block` is not -1 */
    int32_t block;  /* -1, or the block whose own type (blocks->send_types, recv_types) applies */
    uint8_t buffer; /* enum tern_buffer */
};

enum tern_step_kind {
    TERN_STEP_NONE,   /* does nothing; complete when all steps it names in `after` are */
    TERN_STEP_SEND,   /* sends `from` to rank `peer` */
    TERN_STEP_RECV,   /* receives `to` from rank `peer` */
    TERN_STEP_REDUCE, /* `to` = `from` op `to`; `from` is the left operand */
    TERN_STEP_COPY,   /* `to` = `from`; the types may differ */
    /* Steps on the board (lib/node/board.h). They are complete when the next step starts. A plan
     * uses `turns` turns of the board. In each turn every rank posts or takes. */
    /* copies `from` to byte `at` of this rank's post in turn `turn`; the post has to.count bytes */
    TERN_STEP_POST,
    TERN_STEP_TAKE, /* `to` = the post of rank `peer` in that turn, from byte `at` on */
    /* `to` = that post op `to`; `from` is a temporary of equal length, for types with gaps */
    TERN_STEP_JOIN,
};

enum tern_step_flag {
    TERN_STEP_LOCAL =
        1, /* intercommunicator: the peer is in the local group, not in the remote one */
    /* the next step, or the end of the plan, depends on this step: waiting for it at once loses
     * nothing */
    TERN_STEP_AWAITED = 2,
    /* a post: more bytes will be added before other ranks may see the post */
    TERN_STEP_MORE = 4,
    TERN_STEP_DONE = 8,    /* board: this rank has finished with the turn */
    TERN_STEP_WHOLE = 16,  /* a take or join: the post has no other bytes */
};

/* A step. */
struct tern_step {
    uint8_t kind, flags;
    int32_t peer;
    uint64_t after; /* bit k: the step k+1 places before must be complete */
    struct tern_ref from, to;
    uint32_t turn, at; /* board only */
};

/* The most steps in flight, and the number of earlier steps that `after` can name. */
enum { TERN_PLAN_WINDOW = 64 };

struct tern_algorithm;

struct tern_plan {
    /* `asked`: as the plan was asked for. In `args` ranks are places of args.order, if `placed` */
    struct tern_plan_args args, asked;
    bool placed;
    const struct tern_algorithm *algorithm;
    int64_t step_count; /* number of steps, head and tail */
    int64_t head_count;
    struct tern_step *head;
    /* Makes step head_count + i, i >= 0. */
    void (*tail)(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step);
    int64_t own[4];     /* numbers that the algorithm keeps for its tail */
    int64_t *offsets;   /* an array for the tail, freed with the plan; NULL: none */
    struct tern_phases *phases; /* plans of which the plan is composed (compose.h); NULL: none */
    int64_t temp_units; /* length of each temporary in units */
    uint8_t temp_count;
    /* a unit of the temporaries is a unit of the receive buffer, otherwise a byte */
    bool temp_typed;
    uint8_t window;  /* most steps in flight, 1 .. TERN_PLAN_WINDOW */
    bool failed;     /* there was no memory while the plan was built */
    uint32_t turns;  /* turns of the board that the plan uses, equal on all ranks of the node */
    int32_t post_bytes; /* bytes of the longest post in any turn by any rank, rounded up a little */
    int refs;
    int64_t head_room; /* steps for which `head` has room */
};

/* An algorithm: one row of a table, in the file of its collective. */
struct tern_algorithm {
    const char *name;
    /* Adds the steps. Called with a plan that has its arguments only. */
    void (*build)(struct tern_plan *plan);
    /* Returns true if the algorithm can do this call. All ranks get the same answer. NULL: always
     * true. */
    bool (*fits)(const struct tern_plan_args *args);
    /* Adds the stages by which the algorithm is priced (lib/coll/price/price.h). NULL: the
     * algorithm is never chosen by price. */
    void (*stages)(const struct tern_shape *shape, struct tern_stages *ret_stages);
};

/* Returns the algorithms of a collective, ended by a row with name NULL (choose.c).
 * `inter`: returns those of intercommunicators. */
const struct tern_algorithm *tern_plan_algorithms(enum tern_collective collective, bool inter);
/* Returns the collective's name: "bcast", ... */
const char *tern_plan_collective_name(enum tern_collective collective);
/* Chooses an algorithm: the one that the parameter coll_NAME_algorithm names if it fits, else the
 * cheapest. All ranks get the same answer. */
const struct tern_algorithm *tern_plan_choose(const struct tern_plan_args *args,
                                              const struct tern_model *model);

/* Returns the algorithm that costs least by the model; `linear` if no algorithm has a price. */
const struct tern_algorithm *tern_plan_cheapest(const struct tern_plan_args *args,
                                                const struct tern_model *model);

/* Returns the price of an algorithm, which must have stages, by the model. */
double tern_plan_price_ns(const struct tern_algorithm *algorithm, const struct tern_model *model,
                          const struct tern_shape *shape);

/* Builds the plan. The caller owns one reference. args->blocks must outlive the plan. Returns NULL
 * if there is no memory. */
struct tern_plan *tern_plan_build(const struct tern_algorithm *algorithm,
                                  const struct tern_plan_args *args);
/* Drops one reference; frees the plan with the last one. */
void tern_plan_release(struct tern_plan *plan);

/* Returns the rank at a place of the plan's order, if ranks are places in it, else `place`. */
static inline int tern_plan_rank_at(const struct tern_plan *plan, int place)
{
    return plan->placed && place >= 0 ? plan->args.order->rank_at[place] : place;
}

/* Gives the peer of a step its own number. */
static inline void tern_plan_set_peer(const struct tern_plan *plan, struct tern_step *step)
{
    if (step->kind == TERN_STEP_SEND || step->kind == TERN_STEP_RECV)
        step->peer = tern_plan_rank_at(plan, step->peer);
}

/* Returns step i, which lies in the plan or in *room. */
static inline const struct tern_step *tern_plan_step(const struct tern_plan *plan, int64_t i,
                                                     struct tern_step *room)
{
    if (__builtin_expect(i < plan->head_count, 1))
        return &plan->head[i];
    plan->tail(plan, i - plan->head_count, room);
    tern_plan_set_peer(plan, room);
    return room;
}

/* The recent plans of a communicator (lib/coll/plan/cache.c). */
struct tern_plan_cache;
/* Returns a plan for `args` from the cache, or builds one. Makes *cache on first use. The caller
 * owns one reference. Returns NULL if there is no memory. */
struct tern_plan *tern_plan_get(struct tern_plan_cache **cache, const struct tern_plan_args *args);
/* Drops the cache's plans and frees the cache. `cache` may be NULL. */
void tern_plan_cache_free(struct tern_plan_cache *cache);

/* The tables of algorithms, each in the file of its collective. */
extern const struct tern_algorithm tern_barrier_algorithms[], tern_bcast_algorithms[],
    tern_gather_algorithms[], tern_gatherv_algorithms[], tern_scatter_algorithms[],
    tern_scatterv_algorithms[], tern_allgather_algorithms[], tern_allgatherv_algorithms[],
    tern_alltoall_algorithms[], tern_alltoallv_algorithms[], tern_reduce_algorithms[],
    tern_allreduce_algorithms[], tern_reduce_scatter_algorithms[],
    tern_reduce_scatter_block_algorithms[], tern_scan_algorithms[],
    tern_exscan_algorithms[], tern_neighbor_algorithms[];
/* Functions for rows of these tables: collectives by way of the board (board_collectives.c). */
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
void tern_slices_reduce_stages(const struct tern_shape *shape, struct tern_stages *stages);
extern const struct tern_algorithm tern_inter_barrier_algorithms[], tern_inter_bcast_algorithms[],
    tern_inter_gather_algorithms[], tern_inter_scatter_algorithms[],
    tern_inter_allgather_algorithms[], tern_inter_exchange_algorithms[],
    tern_inter_reduce_algorithms[],
    tern_inter_allreduce_algorithms[], tern_inter_reduce_scatter_algorithms[];

#endif
