/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ranks are counted from the root. There are q = ceil(log2 n) skips. Each skip is half of the next
 * one, rounded up; the last one is n itself. In round i, with k = i modulo q, every rank sends to
 * the rank skip k above and receives from the rank skip k below. The blocks repeat from one phase
 * of q rounds to the next, shifted by q blocks. In each phase a rank receives one new block; in the
 * other rounds it receives blocks that its neighbours got new in the phase before.
 *
 * A rank's new block is its base block. Write the rank as a sum of skips, taking the largest
 * possible skip each time: the base block is the number of the smallest skip in this sum. The other
 * blocks are base blocks of ranks at the right distance below, all different. The search for them
 * walks over sums of skips. A rank sends what the rank above receives.
 */
#include "lib/coll/algo/circulant_bcast.h"

#include <stdlib.h>

enum { ROUNDS_MAX = 32 };

struct graph {
    int q;
    int64_t skips[ROUNDS_MAX + 1];
};

static struct graph graph_of(int n)
{
    struct graph graph = {0};
    while ((int64_t)1 << graph.q < n)
        graph.q++;
    graph.skips[graph.q] = n;
    for (int k = graph.q; k--;)
        graph.skips[k] = (graph.skips[k + 1] + 1) / 2;
    return graph;
}

/* Returns the base block of a rank; the root's is q. */
static int base_block(const struct graph *graph, int64_t rank)
{
    for (int k = graph->q; k--;) {
        if (graph->skips[k] == rank)
            return k;
        if (graph->skips[k] < rank)
            rank -= graph->skips[k];
    }
    return graph->q;
}

struct search {
    const struct graph *graph;
    int64_t rank;     /* the rank plus n, so that the root is below it */
    int64_t below;    /* the last rank found; the next one must be lower */
    uint64_t unused;  /* base blocks that are still unused, a bit for each */
    int found;        /* number of blocks found, which is also the round that is searched now */
    int *blocks;      /* blocks of the rounds found so far */
};

/* Continues the search from the sum of skips `path`, with base blocks up to `largest`. */
static void look(struct search *search, int64_t path, int largest)
{
    const int64_t *skips = search->graph->skips;
    for (int e = largest; e >= 0 && search->found < search->graph->q; e--) {
        int64_t end = path + skips[e];
        if (!(search->unused >> e & 1) || end > search->rank - skips[search->found] ||
            end >= search->below)
            continue;
        if (end <= search->rank - skips[search->found + 1])
            look(search, end, e);
        if (search->found == search->graph->q ||
            path > search->rank - skips[search->found + 1])
            return;
        search->below = end;
        search->blocks[search->found++] = e;
        search->unused &= ~(1ull << e);
    }
}

/* Computes the block that arrives in each round of phase 0; negative: a block of the phase
 * before. */
static void blocks_received(const struct graph *graph, int64_t rank, int *blocks)
{
    int own = base_block(graph, rank);
    int64_t n = graph->skips[graph->q];
    struct search search = {graph, n + rank, 2 * n, (2ull << graph->q) - 1, 0, blocks};
    search.unused &= ~(1ull << own);
    look(&search, 0, graph->q);
    for (int k = 0; k < graph->q; k++)
        blocks[k] = blocks[k] == graph->q ? own : blocks[k] - graph->q;
}

/* --- as plans --- */

/* The rows of plan->offsets: what is equal in round k of every phase, and what is equal in all
 * rounds. */
enum { SEGMENT, BLOCKS, BUFFER, COUNT };
enum {
    IN = 0,                /* blocks received in phase 0 */
    OUT = ROUNDS_MAX,      /* blocks sent in phase 0 */
    /* rank that is received from; -1: none. TO: rank that is sent to; -1: none */
    FROM = 2 * ROUNDS_MAX,
    TO = 3 * ROUNDS_MAX,
    Q = 4 * ROUNDS_MAX, /* rounds of a phase */
    IDLE,               /* rounds that the first phase lacks, so that the last phase is whole */
    NUMBERS
};

static int64_t peer_at(const struct tern_plan_args *args, int64_t rank)
{
    return wrap(rank + args->root, args->size);
}

static void set_schedule(struct tern_plan *plan, int64_t count, int64_t segment)
{
    const struct tern_plan_args *args = &plan->args;
    struct graph graph = graph_of(args->size);
    int rank = wrap((int64_t)args->rank - args->root, args->size), blocks[ROUNDS_MAX];
    int64_t *numbers = plan->offsets = calloc(NUMBERS, sizeof *numbers);
    plan->own[COUNT] = count;
    plan->own[SEGMENT] = segment > 1 ? segment : 1;
    plan->own[BLOCKS] = (count + plan->own[SEGMENT] - 1) / plan->own[SEGMENT];
    if (!numbers) {
        plan->failed = true;
        return;
    }
    numbers[Q] = graph.q;
    if (graph.q && plan->own[BLOCKS])
        numbers[IDLE] = (graph.q - (plan->own[BLOCKS] - 1) % graph.q) % graph.q;
    if (rank)
        blocks_received(&graph, rank, blocks);
    for (int k = 0; k < graph.q; k++) {
        numbers[IN + k] = rank ? blocks[k] : 0;
        numbers[OUT + k] = k; /* blocks that the root sends */
    }
    for (int k = 0; k < graph.q; k++) {
        int above = wrap(rank + graph.skips[k], args->size);
        numbers[FROM + k] = rank ? peer_at(args, rank - graph.skips[k]) : -1;
        numbers[TO + k] = above ? peer_at(args, above) : -1;
        if (!rank || !above)
            continue;
        blocks_received(&graph, above, blocks);
        numbers[OUT + k] = blocks[k];
    }
}

/* One round: the peers, -1: none; the blocks. */
struct round {
    int from, to;
    int64_t in, out;
};

static int64_t round_count(const struct tern_plan *plan)
{
    bool nothing = plan->failed || plan->args.size == 1 || !plan->own[BLOCKS];
    return nothing ? 0 : plan->own[BLOCKS] - 1 + plan->offsets[Q];
}

static struct round round_of(const struct tern_plan *plan, int64_t i)
{
    const int64_t *numbers = plan->offsets;
    int64_t last = plan->own[BLOCKS] - 1, phase = (i + numbers[IDLE]) / numbers[Q];
    int64_t first = phase * numbers[Q] - numbers[IDLE], k = i - first;
    int64_t in = numbers[IN + k] + first, out = numbers[OUT + k] + first;
    return (struct round){.from = in < 0 ? -1 : (int)numbers[FROM + k],
                          .to = out < 0 ? -1 : (int)numbers[TO + k],
                          .in = in < last ? in : last,
                          .out = out < last ? out : last};
}

static struct tern_ref block_of(const struct tern_plan *plan, struct tern_ref vector, int64_t block)
{
    int64_t begin = block * plan->own[SEGMENT], rest = vector.count - begin;
    return part(vector, begin, rest < plan->own[SEGMENT] ? rest : plan->own[SEGMENT]);
}

static void bcast_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    struct tern_ref data = {0, plan->own[COUNT], -1, (uint8_t)plan->own[BUFFER]};
    *ret_step = step_none();
    if (i == 2 * round_count(plan)) {
        *ret_step = step_copy(data, in_recv(0, plan->args.recv_count), AFTER_ALL);
        return;
    }
    struct round round = round_of(plan, i / 2);
    if (i % 2 == 0 && round.from >= 0)
        *ret_step = step_recv(round.from, block_of(plan, data, round.in), 0);
    else if (i % 2 == 1 && round.to >= 0) /* does not wait for the receive of this round */
        *ret_step = step_send(round.to, block_of(plan, data, round.out), AFTER_ALL & ~1ull);
}

void tern_plan_set_circulant_bcast(struct tern_plan *plan, struct tern_ref data)
{
    const struct tern_plan_args *args = &plan->args;
    bool unpacks = data.buffer != TERN_RECV_BUFFER && args->rank != args->root;
    set_schedule(plan, data.count, args->segment_bytes);
    plan->own[BUFFER] = data.buffer;
    set_tail(plan, 2 * round_count(plan) + unpacks, bcast_step);
}

/* Reduction: the rounds from the last to the first. What arrives uses two places in turn, if there
 * is room for two. */
static void reduce_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, segment = plan->own[SEGMENT];
    bool root = args->rank == args->root, two = 2 * segment <= count;
    struct tern_ref sum = root ? in_recv(0, count) : in_temp(1, 0, count);
    struct round round = round_of(plan, round_count(plan) - 1 - i / 3);
    struct tern_ref joined = block_of(plan, sum, round.out);
    struct tern_ref arriving = in_temp(0, two ? i / 3 % 2 * segment : 0, joined.count);
    *ret_step = step_none();
    if (i % 3 == 0 && round.to >= 0)
        *ret_step = step_recv(round.to, arriving, two ? places_before(4) : places_before(1));
    else if (i % 3 == 1 && round.from >= 0)
        *ret_step = step_send(round.from, block_of(plan, sum, round.in),
                              places_before(2) | places_before(i + 1));
    else if (i % 3 == 2 && round.to >= 0)
        *ret_step = step_reduce(arriving, joined,
                                places_before(2) | places_before(3) | places_before(i + 1));
    else if (i % 3 == 2) /* each reduction waits for all before it */
        ret_step->after = places_before(3);
}

void tern_plan_set_circulant_reduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count;
    bool root = args->rank == args->root;
    set_schedule(plan, count, args->recv_size ? args->segment_bytes / args->recv_size : count);
    set_temporaries(plan, root ? 1 : 2, count, true);
    if (!root || !args->in_place)
        add_copy(plan, in_input(args, 0, count), root ? in_recv(0, count) : in_temp(1, 0, count),
                 0);
    set_tail(plan, 3 * round_count(plan), reduce_step);
}

void tern_circulant_stages(const struct tern_shape *shape, struct tern_stages *stages, bool reduced)
{
    int64_t bytes = shape->bytes < shape->segment_bytes ? shape->bytes : shape->segment_bytes;
    int64_t segments = (shape->bytes + shape->segment_bytes - 1) / shape->segment_bytes;
    if (reduced)
        tern_stages_add_temporaries(stages, shape->size, 2 * shape->bytes);
    if (segments) /* the first segment goes along a binomial tree */
        tern_stages_add_tree(stages, shape->size, 2, bytes, false, reduced ? bytes : 0);
    tern_stages_add(stages, (struct tern_stage){.repeat = (double)(segments - 1),
                                                .messages = 1,
                                                .bytes = bytes,
                                                .distance = shape->size / 2,
                                                .senders = shape->size - 1,
                                                .reduced = reduced ? bytes : 0,
                                                .flows = true});
}
