/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BUILD_H
#define TERN_BUILD_H

/* The vocabulary in which algorithms are written: references, blocks, steps. For lib/coll's own
 * files. */

#include "lib/coll/plan/plan.h"

/* --- references --- */

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

/* Part of another reference (not of one to a block with its own type). */
static inline struct tern_ref part(struct tern_ref whole, int64_t offset, int64_t count)
{
    whole.offset += offset;
    whole.count = count;
    return whole;
}

/* This rank's input of a reduction. */
static inline struct tern_ref in_input(const struct tern_plan_args *args, int64_t offset,
                                       int64_t count)
{
    return args->in_place ? in_recv(offset, count) : in_send(offset, count);
}

/* --- blocks: where rank r's part lies --- */

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

/* Bytes of data behind a reference to a user's buffer. */
static inline int64_t data_bytes(const struct tern_plan_args *args, struct tern_ref ref)
{
    bool send = ref.buffer == TERN_SEND_BUFFER;
    if (ref.block >= 0)
        return ref.count *
               (send ? args->blocks->send_types : args->blocks->recv_types)[ref.block]->size;
    return ref.count * (send ? args->send_size : args->recv_size);
}

/* `count` cut into `parts` as evenly as can be: where part i begins; part `parts` begins at the
 * end. */
static inline int64_t cut(int64_t count, int parts, int64_t i)
{
    int64_t rest = count % parts;
    return i * (count / parts) + (i < rest ? i : rest);
}

/* The part of that cut in which unit i lies, 0 <= i < count. */
static inline int64_t part_of(int64_t count, int parts, int64_t i)
{
    int64_t each = count / parts, longer = count % parts * (each + 1);
    return i < longer ? i / (each + 1) : count % parts + (i - longer) / each;
}

static inline int wrap(int64_t rank, int size)
{
    int r = (int)(rank % size);
    return r < 0 ? r + size : r;
}

/* --- steps --- */

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

/* The step `places` before; none if that is not positive; beyond the window it is complete anyway.
 */
static inline uint64_t places_before(int64_t places)
{
    return places < 1 || places > TERN_PLAN_WINDOW ? 0 : 1ull << (places - 1);
}

/* Adds a step to the head; its number. */
int64_t tern_plan_add(struct tern_plan *plan, struct tern_step step);

/* How the next step names step `i`; i = -1: none. */
static inline uint64_t after(const struct tern_plan *plan, int64_t i)
{
    return i < 0 ? 0 : places_before(plan->head_count - i);
}

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

/* What comes after starts when everything before is complete. */
static inline void add_fence(struct tern_plan *plan)
{
    struct tern_step fence = step_none();
    fence.after = AFTER_ALL;
    if (plan->head_count)
        tern_plan_add(plan, fence);
}

/* The rest of the steps come from a function. */
static inline void set_tail(struct tern_plan *plan, int64_t count,
                            void (*tail)(const struct tern_plan *, int64_t, struct tern_step *))
{
    plan->tail = tail;
    plan->step_count = plan->head_count + count;
}

static inline void set_temporaries(struct tern_plan *plan, int count, int64_t units, bool typed)
{
    plan->temp_count = (uint8_t)count;
    plan->temp_units = units;
    plan->temp_typed = typed;
}

/* --- pieces that several collectives are made of (trees.c) --- */

/* Who they run among: ranks of this group; of an intercommunicator the local one. */
struct tern_team {
    int rank, size;
    uint8_t flags; /* of the steps: TERN_STEP_LOCAL or 0 */
    bool bine;     /* places in a bine tree; size a power of two, and radix 2 */
    int radix;     /* of the tree, >= 2 */
};

static inline struct tern_team team_of(const struct tern_plan_args *args)
{
    uint8_t flags = args->remote_size ? TERN_STEP_LOCAL : 0;
    return (struct tern_team){args->rank, args->size, flags, false, 2};
}

static inline bool power_of_two(const struct tern_plan_args *args)
{
    return (args->size & (args->size - 1)) == 0;
}

static inline bool commutative(const struct tern_plan_args *args)
{
    return args->commutative;
}

/* Their prices. `bytes` go along each edge, or that times the ranks below (`gathers`), of which
 * `reduced` are joined. */
void tern_stages_add_tree(struct tern_stages *stages, int64_t size, int64_t radix, int64_t bytes,
                          bool gathers, int64_t reduced);

/* Broadcast of `data` along the team's tree, after step `ready` (-1: at once). Returns this rank's
 * receive, or `ready`. */
int64_t tern_plan_add_bcast(struct tern_plan *plan, struct tern_team team, int root,
                            struct tern_ref data, int64_t ready);

/*
 * Reduction to `root` along the team's tree. Rank order is kept if `ordered`: then root must be 0
 * and the tree not bine.
 * `input` is not written, unless it is `a` itself; partial results go to `a` and `b` (as long as
 * input), of which the last one is always `a` if !ordered. *ret_result is where the root's result
 * stands, *ret_ready the step that completes it (-1: the input is it).
 */
void tern_plan_add_reduce(struct tern_plan *plan, struct tern_team team, int root, bool ordered,
                          struct tern_ref input, struct tern_ref a, struct tern_ref b,
                          struct tern_ref *ret_result, int64_t *ret_ready);

/*
 * Allreduce by recursive doubling over the intracommunicator: `input`, `a` and `b` as above, rank
 * order always kept. *ret_result is where the result stands on this rank (input, a or b),
 * *ret_ready the step that completes it.
 */
void tern_plan_add_doubling(struct tern_plan *plan, struct tern_ref input, struct tern_ref a,
                            struct tern_ref b, struct tern_ref *ret_result, int64_t *ret_ready);

static inline bool same_place(struct tern_ref x, struct tern_ref y)
{
    return x.buffer == y.buffer && x.offset == y.offset;
}

#endif
