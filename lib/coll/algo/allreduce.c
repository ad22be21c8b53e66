/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/algo/butterfly.h"
#include "lib/coll/algo/hierarchy.h"
#include "lib/coll/algo/by_other_collectives.h"
#include "lib/coll/algo/circulant.h"
#include "lib/coll/algo/ring_reduction.h"

/*
 * Recursive doubling: in each round a rank exchanges its result with the rank whose number differs
 * in one bit. Every result covers consecutive ranks, and both partners compute lower op higher. So
 * rank order is kept, and all ranks get identical bits. If the size is no power of two, the first
 * ranks (2 * rest of them) form pairs, and the odd rank of each pair takes part.
 */
void tern_plan_add_doubling(struct tern_plan *plan, struct tern_ref input, struct tern_ref a,
                            struct tern_ref b, struct tern_ref *ret_result, int64_t *ret_ready)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank, players = 1;
    while (2 * players <= n)
        players *= 2;
    int rest = n - players, player = p < 2 * rest ? p / 2 : p - rest;
    struct tern_ref sum = input;
    int64_t ready = -1, sent = -1;

    if (p < 2 * rest && p % 2 == 0) {
        sent = add_send(plan, p + 1, input, 0);
        *ret_ready = add_recv(plan, p + 1, a, after(plan, sent));
        *ret_result = a;
        return;
    }
    if (p < 2 * rest) { /* the even neighbour's input is the left operand */
        ready = add_recv(plan, p - 1, b, 0);
        if (!same_place(sum, a))
            ready = add_copy(plan, sum, a, after(plan, ready));
        ready = add_reduce(plan, b, a, after(plan, ready));
        sum = a;
    }
    for (int mask = 1; mask < players; mask *= 2) {
        int other = player ^ mask;
        int peer = other < rest ? 2 * other + 1 : other + rest;
        bool keeps = same_place(sum, a) ||
                     same_place(sum, b); /* else the sum is the input, which must not be written */
        struct tern_ref to = same_place(sum, b) || (!keeps && other > player) ? a : b;
        int64_t busy =
            sent; /* the buffer that does not hold the sum was sent in the round before */
        sent = add_send(plan, peer, sum, after(plan, ready));
        int64_t received = add_recv(plan, peer, to, after(plan, busy) | after(plan, ready));
        if (other > player) {
            ready = add_reduce(plan, sum, to, after(plan, received));
            sum = to;
        } else if (keeps) {
            ready = add_reduce(plan, to, sum, after(plan, received) | after(plan, sent));
        } else {
            ready = add_copy(plan, sum, a, after(plan, received));
            ready = add_reduce(plan, to, a, after(plan, ready));
            sum = a;
        }
    }
    if (p < 2 * rest)
        sent = add_send(plan, p - 1, sum, after(plan, ready));
    *ret_result = sum;
    *ret_ready = ready;
}

static void recursive_doubling(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, ready;
    struct tern_ref result = in_recv(0, count), sum;
    set_temporaries(plan, 1, count, true);
    tern_plan_add_doubling(plan, in_input(args, 0, count), result, in_temp(0, 0, count), &sum,
                           &ready);
    if (!same_place(sum, result))
        add_copy(plan, sum, result, AFTER_ALL);
}

/* Reduction along a tree to rank 0, then broadcast: the fewest messages in total. */
static void trees(struct tern_plan *plan, int radix)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_team team = team_of(args);
    team.radix = radix;
    struct tern_ref result = in_recv(0, args->recv_count), sum;
    int64_t ready;
    set_temporaries(plan, 1, args->recv_count, true);
    tern_plan_add_reduce(plan, team, 0, !args->commutative, in_input(args, 0, args->recv_count),
                         result, in_temp(0, 0, args->recv_count), &sum, &ready);
    if (sum.buffer != TERN_RECV_BUFFER && args->rank == 0)
        ready = add_copy(plan, sum, result, after(plan, ready));
    /* What a rank sent to its parent must be sent before the result is received into its place. The
     * rank's send is `ready`, so the broadcast waits for it. */
    tern_plan_add_bcast(plan, team, 0, result, ready);
}

static void tree(struct tern_plan *plan)
{
    trees(plan, 2);
}

static void knomial(struct tern_plan *plan)
{
    trees(plan, 4);
}

static void linear(struct tern_plan *plan)
{
    trees(plan, plan->args.size + 1);
}

/* Ring reduce-scatter, then ring allgather: each rank sends and receives about twice the vector,
 * for any number of ranks. */
static void ring_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    struct tern_ref result = in_recv(0, args->recv_count);
    int64_t reduce_steps = ring_reduce_steps(n);
    if (i < reduce_steps) {
        *ret_step = tern_ring_reduce_step(p, n, i, in_input(args, 0, args->recv_count), result, 0);
        return;
    }
    int64_t k = (i - reduce_steps) / 2;
    if ((i - reduce_steps) % 2 == 0) {
        *ret_step = step_send(wrap((int64_t)p + 1, n), tern_ring_chunk(result, n, p + 1 - k),
                              places_before(1));
    } else {
        /* The place of the arriving chunk was sent in round k of the reduce-scatter. The chunk
         * before must have arrived. */
        *ret_step = step_recv(wrap((int64_t)p - 1, n), tern_ring_chunk(result, n, p - k),
                              places_before(i - 3 * k) | places_before(2));
        ret_step->flags = TERN_STEP_AWAITED;
    }
}

static void ring(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    if (args->in_place)
        set_temporaries(plan, 2, cut(args->recv_count, args->size, 1), true);
    else if (args->size == 1)
        add_copy(plan, in_send(0, args->recv_count), in_recv(0, args->recv_count), 0);
    set_tail(plan, ring_reduce_steps(args->size) + 2 * (int64_t)(args->size - 1), ring_step);
}

/*
 * Recursive multiplying (Ruefenacht, Bull, Booth 2017): recursive doubling in which RADIX ranks
 * exchange their sums in a round. Fewer rounds, if several messages can be in flight. All of these
 * ranks reduce equal sums in one order.
 */
enum { RADIX = 4 };

/* One round. `mine`: where this rank's sum is, before and after. `spare`: other places that may be
 * written to. */
static void multiply(struct tern_plan *plan, const struct tern_butterfly *fold, int stride,
                     int radix, bool writable, struct tern_ref *mine, struct tern_ref spare[RADIX])
{
    int place = fold->player / stride % radix, first = fold->player - place * stride, used = 0;
    struct tern_ref sums[RADIX];
    add_fence(plan);
    for (int m = 0; m < radix; m++) {
        sums[m] = m == place ? *mine : spare[used++];
        if (m != place)
            add_recv(plan, tern_butterfly_rank(fold, first + m * stride), sums[m], 0);
    }
    for (int m = 0; m < radix; m++)
        if (m != place)
            add_send(plan, tern_butterfly_rank(fold, first + m * stride), *mine, 0);
    add_fence(plan);
    int last = radix - 1; /* the other sums are reduced into this one, from right to left */
    if (place == last && !writable) {
        sums[last] = spare[used];
        add_copy(plan, *mine, sums[last], 0);
    }
    for (int m = last - 1; m >= 0; m--)
        add_reduce(plan, sums[m], sums[last], AFTER_ALL);
    for (int i = 0; i < RADIX; i++)
        if (same_place(spare[i], sums[last]))
            spare[i] = writable ? *mine : spare[RADIX - 1];
    *mine = sums[last];
}

static void recursive_multiplying(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count;
    struct tern_butterfly fold =
        tern_butterfly_of(TERN_BUTTERFLY_XOR, args->rank, args->size, -1);
    struct tern_ref result = in_recv(0, count), mine = in_input(args, 0, count);
    struct tern_ref spare[RADIX] = {in_temp(0, 0, count), in_temp(1, 0, count),
                                    in_temp(2, 0, count), result};
    bool writable = args->in_place;
    set_temporaries(plan, 3, count, true);
    if (fold.player < 0) {
        add_send(plan, fold.partner, mine, 0);
        add_recv(plan, fold.partner, result, AFTER_ALL);
        return;
    }
    if (fold.partner >= 0) { /* the partner has the lower number */
        add_recv(plan, fold.partner, spare[0], 0);
        if (!writable) {
            add_copy(plan, mine, result, 0);
            mine = result;
            writable = true;
        }
        add_reduce(plan, spare[0], mine, AFTER_ALL);
    }
    for (int round = 0, radix; round < fold.rounds; round += radix / 2, writable = true) {
        radix = fold.rounds - round > 1 ? RADIX : 2;
        multiply(plan, &fold, 1 << round, radix, writable, &mine, spare);
    }
    if (!same_place(mine, result))
        add_copy(plan, mine, result, AFTER_ALL);
    if (fold.partner >= 0)
        add_send(plan, fold.partner, result, AFTER_ALL);
}

/* Rabenseifner 2004: halving, then all ranks collect the parts. */
static void butterfly(struct tern_plan *plan, enum tern_butterfly_kind kind)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, ready;
    struct tern_butterfly shape = tern_butterfly_of(kind, args->rank, args->size, -1);
    struct tern_ref result = in_recv(0, count), mine;
    set_temporaries(plan, 1, count, true);
    tern_plan_add_halving(plan, &shape, !args->commutative, in_input(args, 0, count), result,
                          in_temp(0, 0, count), &mine, &ready);
    if (mine.buffer != result.buffer && mine.count)
        ready = add_copy(plan, mine, part(result, mine.offset, mine.count), AFTER_ALL);
    tern_plan_add_regather(plan, &shape, result, ready);
}

static void halving_doubling(struct tern_plan *plan)
{
    butterfly(plan, TERN_BUTTERFLY_XOR);
}

static void swing(struct tern_plan *plan)
{
    butterfly(plan, TERN_BUTTERFLY_SWING);
}

/* Reduce-scatter and allgather over one circulant graph (circulant.c). */
static void circulant(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    tern_plan_add_circulant_reduce(plan, in_input(args, 0, args->recv_count),
                                   in_recv(0, args->recv_count), NULL);
    tern_plan_add_circulant_gather(plan, in_recv(0, args->recv_count), plan->args.rank);
}

/* --- prices --- */

/* Adds the stages of exchanging whole vectors among a power of `radix`, or of two, of ranks. */
static void add_exchanges(const struct tern_shape *shape, struct tern_stages *stages, int radix)
{
    int64_t players = 1;
    for (; 2 * players <= shape->size; players *= 2)
        ;
    struct tern_stage round = {.repeat = 2,
                               .messages = 1,
                               .bytes = shape->bytes,
                               .distance = 1,
                               .senders = shape->size - players};
    if (players < shape->size) /* folding: the input to a partner, and the result back */
        tern_stages_add(stages, round);
    round.repeat = 1;
    round.senders = shape->size;
    for (int64_t stride = 1; stride < players; stride *= round.messages + 1) {
        round.messages = players / stride < radix ? 1 : radix - 1;
        round.distance = stride * round.messages;
        round.reduced = shape->bytes * round.messages;
        tern_stages_add(stages, round);
    }
}

static void recursive_doubling_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_exchanges(shape, stages, 2);
}

static void recursive_multiplying_stages(const struct tern_shape *shape,
                                         struct tern_stages *stages)
{
    add_exchanges(shape, stages, RADIX);
}

static void ring_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_ring(stages, shape->size, shape->bytes / shape->size, true);
    tern_stages_add_ring(stages, shape->size, shape->bytes / shape->size, false);
}

static void halving_doubling_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_butterfly(stages, TERN_BUTTERFLY_XOR, shape->size, shape->bytes, shape->unit,
                              true);
    tern_stages_add_butterfly(stages, TERN_BUTTERFLY_XOR, shape->size, shape->bytes, shape->unit,
                              false);
}

static void swing_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_butterfly(stages, TERN_BUTTERFLY_SWING, shape->size, shape->bytes, shape->unit,
                              true);
    tern_stages_add_butterfly(stages, TERN_BUTTERFLY_SWING, shape->size, shape->bytes, shape->unit,
                              false);
}

static void circulant_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_circulant(stages, shape->size, shape->bytes, shape->unit, true);
    tern_stages_add_circulant(stages, shape->size, shape->bytes, shape->unit, false);
}

static void add_tree_stages(const struct tern_shape *shape, struct tern_stages *stages,
                            int64_t radix)
{
    tern_stages_add_tree(stages, shape->size, radix, shape->bytes, false, shape->bytes);
    tern_stages_add_tree(stages, shape->size, radix, shape->bytes, false, 0);
}

static void tree_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_tree_stages(shape, stages, 2);
}

static void knomial_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_tree_stages(shape, stages, 4);
}

static void linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_tree_stages(shape, stages, shape->size + 1);
}

const struct tern_algorithm tern_allreduce_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_allreduce_stages},
    {"slices", tern_plan_use_slices, tern_plan_fits_slices, tern_slices_stages},
    {"recursive_doubling", recursive_doubling, NULL, recursive_doubling_stages},
    {"ring", ring, commutative, ring_stages},
    {"recursive_multiplying", recursive_multiplying, NULL, recursive_multiplying_stages},
    {"halving_doubling", halving_doubling, NULL, halving_doubling_stages},
    {"swing", swing, commutative, swing_stages},
    {"circulant", circulant, commutative, circulant_stages},
    {"tree", tree, NULL, tree_stages},
    {"knomial", knomial, NULL, knomial_stages},
    {"linear", linear, NULL, linear_stages},
    {"reduce_bcast", tern_allreduce_by_reduce, tern_plan_fits_sequence,
     tern_allreduce_by_reduce_stages},
    {"scatter_allgather", tern_allreduce_by_scatter, tern_plan_fits_equal_parts,
     tern_allreduce_by_scatter_stages},
    {"hierarchical", tern_hierarchical_allreduce, tern_plan_fits_levels,
     tern_hierarchical_allreduce_stages},
    {"multi_leader", tern_multi_leader_allreduce, tern_plan_fits_lanes,
     tern_multi_leader_allreduce_stages},
    {0},
};
