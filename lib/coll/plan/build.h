/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BUILD_H
#define TERN_BUILD_H

/* The vocabulary in which algorithms are written: references, blocks, steps. For the files of
 * lib/coll only. */

#include "lib/coll/plan/plan.h"

/* --- references --- */

/* in_send, in_recv and in_temp return a reference to `count` units from `offset` on: in the send
 * buffer, in the receive buffer, in temporary i. */
static inline struct tern_ref in_send(int64_t offset, int64_t count)
{
    return (struct tern_ref){offset, count, -1, TERN_SEND_BUFFER};
}

static inline struct tern_ref in_recv(int64_t offset, int64_t count)
{
    return (struct tern_ref){offset, count, -1, TERN_RECV_BUFFER};
}

static inline struct tern_ref in_temp(int i, int64_t offset, int64_t count)
{
    return (struct tern_ref){offset, count, -1, (uint8_t)(TERN_TEMPORARY + i)};
}

/* Returns a part of `whole`, which must not refer to a block with its own type. */
static inline struct tern_ref part(struct tern_ref whole, int64_t offset, int64_t count)
{
    whole.offset += offset;
    whole.count = count;
    return whole;
}

/* Returns a reference to this rank's input of a reduction. */
static inline struct tern_ref in_input(const struct tern_plan_args *args, int64_t offset,
                                       int64_t count)
{
    return args->in_place ? in_recv(offset, count) : in_send(offset, count);
}

/* --- blocks: where the block of rank r is --- */

/* send_block and recv_block return a reference to the block for rank r in the send buffer, and from
 * rank r in the receive buffer. */
static inline struct tern_ref send_block(const struct tern_plan_args *args, int r)
{
    const struct tern_plan_blocks *blocks = args->blocks;
    if (!blocks || !blocks->send_counts.values)
        return in_send(r * args->send_count, args->send_count);
    return (struct tern_ref){blocks->send_units * tern_ints_at(blocks->send_displs, r),
                             blocks->send_units * tern_ints_at(blocks->send_counts, r),
                             blocks->send_types ? r : -1, TERN_SEND_BUFFER};
}

static inline struct tern_ref recv_block(const struct tern_plan_args *args, int r)
{
    const struct tern_plan_blocks *blocks = args->blocks;
    if (!blocks || !blocks->recv_counts.values)
        return in_recv(r * args->recv_count, args->recv_count);
    return (struct tern_ref){blocks->recv_units * tern_ints_at(blocks->recv_displs, r),
                             tern_recv_count(args, r), blocks->recv_types ? r : -1,
                             TERN_RECV_BUFFER};
}

/* Returns the bytes of data in a reference to a user's buffer. */
static inline int64_t data_bytes(const struct tern_plan_args *args, struct tern_ref ref)
{
    bool send = ref.buffer == TERN_SEND_BUFFER;
    if (ref.block >= 0)
        return ref.count *
               (send ? args->blocks->send_types : args->blocks->recv_types)[ref.block]->size;
    return ref.count * (send ? args->send_size : args->recv_size);
}

/* Returns where part i begins if `count` is cut into `parts` as evenly as possible. Part number
 * `parts` begins at `count`. */
static inline int64_t cut(int64_t count, int parts, int64_t i)
{
    int64_t rest = count % parts;
    return i * (count / parts) + (i < rest ? i : rest);
}

/* Returns the number of the part in which unit i is, 0 <= i < count. */
static inline int64_t part_of(int64_t count, int parts, int64_t i)
{
    int64_t each = count / parts, longer = count % parts * (each + 1);
    return i < longer ? i / (each + 1) : count % parts + (i - longer) / each;
}

/* Returns `rank` modulo `size`, never negative. */
static inline int wrap(int64_t rank, int size)
{
    int r = (int)(rank % size);
    return r < 0 ? r + size : r;
}

/* --- an order of ranks (args.order) --- */

/* Returns true if neighbours by number are far from each other. */
static inline bool is_out_of_order(const struct tern_plan_args *args)
{
    return args->order && args->order->rank_at && args->order->size == args->size;
}

/* Makes places of ranks, from here on, in the arguments and in the peers of steps, if there is an
 * order of all ranks. Blocks stay those of ranks: the algorithm finds them with tern_plan_rank_at.
 * Call before the first step. Broadcasts and commutative reductions, whose ranks are all alike, are
 * built so by tern_plan_build. */
void tern_plan_place_ranks(struct tern_plan *plan);

/* --- steps --- */

/* These return a step; `after` names the steps it waits for. A reduction or copy of length 0
 * becomes a step that does nothing. */
static inline struct tern_step step_send(int peer, struct tern_ref from, uint64_t after)
{
    return (struct tern_step){TERN_STEP_SEND, 0, peer, after, from, {0, 0, -1, 0}, 0, 0};
}

static inline struct tern_step step_recv(int peer, struct tern_ref to, uint64_t after)
{
    return (struct tern_step){TERN_STEP_RECV, 0, peer, after, {0, 0, -1, 0}, to, 0, 0};
}

static inline struct tern_step step_reduce(struct tern_ref in, struct tern_ref inout,
                                           uint64_t after)
{
    return (struct tern_step){
        in.count ? TERN_STEP_REDUCE : TERN_STEP_NONE, 0, -1, after, in, inout, 0, 0};
}

static inline struct tern_step step_copy(struct tern_ref from, struct tern_ref to, uint64_t after)
{
    return (struct tern_step){
        from.count ? TERN_STEP_COPY : TERN_STEP_NONE, 0, -1, after, from, to, 0, 0};
}

static inline struct tern_step step_none(void)
{
    return (struct tern_step){.kind = TERN_STEP_NONE, .peer = -1};
}

/* Names every earlier step. */
#define AFTER_ALL (~0ull)

/* Returns the bit of `after` that names the step `places` before; 0 if `places` is not positive.
 * Returns 0 also beyond the window, because such a step is complete anyway. */
static inline uint64_t places_before(int64_t places)
{
    return places < 1 || places > TERN_PLAN_WINDOW ? 0 : 1ull << (places - 1);
}

/* Adds a step to the head. Returns the step's number. */
int64_t tern_plan_add(struct tern_plan *plan, struct tern_step step);

/* Returns the bit by which the next step names step `i`; 0 if i is -1. */
static inline uint64_t after(const struct tern_plan *plan, int64_t i)
{
    return i < 0 ? 0 : places_before(plan->head_count - i);
}

/* These add a step to the head. They return its number. */
static inline int64_t add_send(struct tern_plan *plan, int peer, struct tern_ref from,
                               uint64_t after_these)
{
    return tern_plan_add(plan, step_send(peer, from, after_these));
}

static inline int64_t add_recv(struct tern_plan *plan, int peer, struct tern_ref to,
                               uint64_t after_these)
{
    return tern_plan_add(plan, step_recv(peer, to, after_these));
}

static inline int64_t add_reduce(struct tern_plan *plan, struct tern_ref in, struct tern_ref inout,
                                 uint64_t after_these)
{
    return tern_plan_add(plan, step_reduce(in, inout, after_these));
}

static inline int64_t add_copy(struct tern_plan *plan, struct tern_ref from, struct tern_ref to,
                               uint64_t after_these)
{
    return tern_plan_add(plan, step_copy(from, to, after_these));
}

/* Adds a step that makes all following steps wait until all earlier ones are complete. */
static inline void add_fence(struct tern_plan *plan)
{
    struct tern_step fence = step_none();
    fence.after = AFTER_ALL;
    if (plan->head_count)
        tern_plan_add(plan, fence);
}

/* Sets the function that makes the remaining `count` steps. */
static inline void set_tail(struct tern_plan *plan, int64_t count,
                            void (*tail)(const struct tern_plan *, int64_t, struct tern_step *))
{
    plan->tail = tail;
    plan->step_count = plan->head_count + count;
}

/* Asks for `count` temporaries of `units` units each; see temp_typed of struct tern_plan for
 * `typed`. */
static inline void set_temporaries(struct tern_plan *plan, int count, int64_t units, bool typed)
{
    plan->temp_count = (uint8_t)count;
    plan->temp_units = units;
    plan->temp_typed = typed;
}

/* --- pieces that several collectives are made of (trees.c) --- */

/* The ranks that such a piece runs among: this group, for an intercommunicator the local one. */
struct tern_team {
    int rank, size;
    uint8_t flags; /* flags of the steps: TERN_STEP_LOCAL or 0 */
    int radix;     /* radix of the tree, >= 2 */
};

/* Returns the team of all ranks of this group, for a binomial tree. */
static inline struct tern_team team_of(const struct tern_plan_args *args)
{
    uint8_t flags = args->remote_size ? TERN_STEP_LOCAL : 0;
    return (struct tern_team){args->rank, args->size, flags, 2};
}

/* Functions `fits` of algorithms: the number of ranks is a power of two; the operation commutes. */
static inline bool power_of_two(const struct tern_plan_args *args)
{
    return (args->size & (args->size - 1)) == 0;
}

static inline bool commutative(const struct tern_plan_args *args)
{
    return args->commutative;
}

/* Adds the price of a tree. If `gathers`, each edge carries `bytes` times the number of ranks
 * below, else `bytes`. `reduced` of the bytes are reduced. */
void tern_stages_add_tree(struct tern_stages *stages, int64_t size, int64_t radix, int64_t bytes,
                          bool gathers, int64_t reduced);

/* Adds a broadcast of `data` along the team's tree, after step `ready` (-1: at once). Returns the
 * step of this rank's receive; on the root `ready`. */
int64_t tern_plan_add_bcast(struct tern_plan *plan, struct tern_team team, int root,
                            struct tern_ref data, int64_t ready);

/*
 * Adds a reduction to `root` along the team's tree. If `ordered`, rank order is kept: then `root`
 * must be 0.
 *
 * `input` is not written, unless it is `a` itself. Partial results go to `a` and `b`, which are as
 * long as `input`. If not `ordered`, the final result is always in `a`. *ret_result: where the
 * root's result is. *ret_ready: the step that completes the result (-1: the result is `input`).
 */
void tern_plan_add_reduce(struct tern_plan *plan, struct tern_team team, int root, bool ordered,
                          struct tern_ref input, struct tern_ref a, struct tern_ref b,
                          struct tern_ref *ret_result, int64_t *ret_ready);

/*
 * Adds an allreduce by recursive doubling over the intracommunicator. `input`, `a` and `b` as
 * above. Rank order is always kept. *ret_result: where the result is on this rank (`input`, `a` or
 * `b`). *ret_ready: the step that completes the result.
 */
void tern_plan_add_doubling(struct tern_plan *plan, struct tern_ref input, struct tern_ref a,
                            struct tern_ref b, struct tern_ref *ret_result, int64_t *ret_ready);

/* Returns true if both references begin at one place. */
static inline bool same_place(struct tern_ref x, struct tern_ref y)
{
    return x.buffer == y.buffer && x.offset == y.offset;
}

#endif
