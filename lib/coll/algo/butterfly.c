/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/algo/butterfly.h"

/* Returns the distance in round s of the swing: 1, -1, 3, -5, 11, ... */
static int swing(int s)
{
    int power = 2 << s; /* 2^(s+1) */
    return s % 2 ? (1 - power) / 3 : (1 + power) / 3;
}

int tern_butterfly_rank(const struct tern_butterfly *butterfly, int player)
{
    if (player >= butterfly->rest)
        return player + butterfly->rest;
    return butterfly->keep / 2 == player && butterfly->keep >= 0 ? butterfly->keep : 2 * player + 1;
}

struct tern_butterfly tern_butterfly_of(enum tern_butterfly_kind kind, int rank, int size, int keep)
{
    struct tern_butterfly butterfly = {.kind = kind, .partner = -1, .keep = keep};
    while (2 << butterfly.rounds <= size)
        butterfly.rounds++;
    butterfly.rest = size - (1 << butterfly.rounds);
    butterfly.player = rank - butterfly.rest;
    if (rank < 2 * butterfly.rest) {
        butterfly.partner = rank ^ 1;
        butterfly.player = tern_butterfly_rank(&butterfly, rank / 2) == rank ? rank / 2 : -1;
    }
    return butterfly;
}

int tern_butterfly_peer(const struct tern_butterfly *butterfly, int player, int s)
{
    if (butterfly->kind == TERN_BUTTERFLY_XOR)
        return player ^ 1 << s;
    return wrap((int64_t)player + (player % 2 ? -swing(s) : swing(s)), 1 << butterfly->rounds);
}

/*
 * Returns which half a player takes in round s: not the half of the player it meets, and the half
 * of all players that it meets later. In the swing, later distances agree modulo 2^(s+2), so that x
 * even and x plus that distance meet one set of ranks later.
 */
static int half_of(const struct tern_butterfly *butterfly, int player, int s)
{
    if (butterfly->kind == TERN_BUTTERFLY_XOR)
        return player >> s & 1;
    if (s == butterfly->rounds - 1)
        return player & 1;
    unsigned even = (unsigned)(player % 2 ? player - swing(s + 1) : player);
    return even >> (s + 1) & 1;
}

struct tern_ref tern_butterfly_range(const struct tern_butterfly *butterfly, int player, int s,
                                     struct tern_ref whole)
{
    for (int t = 0; t < s; t++) {
        int64_t first = cut(whole.count, 2, 1);
        if (half_of(butterfly, player, t))
            whole = part(whole, first, whole.count - first);
        else
            whole = part(whole, 0, first);
    }
    return whole;
}

/* Returns the part of `vector` that corresponds to `range` in the vector that begins at
 * `origin`. */
static struct tern_ref same_range(struct tern_ref range, struct tern_ref origin,
                                  struct tern_ref vector)
{
    return part(vector, range.offset - origin.offset, range.count);
}

/* Where partial sums are. */
struct sums {
    bool ordered;
    struct tern_ref input, a, b;
    struct tern_ref now; /* where the sum is now: input, a or b */
    int64_t ready;
};

/* Receives `range` of rank `from`'s sum and reduces it with this rank's sum; the lower ranks are
 * the left operand. */
static void join(struct tern_plan *plan, struct sums *sums, int from, bool from_above,
                 struct tern_ref range)
{
    bool untouched = !same_place(sums->now, sums->a) && !same_place(sums->now, sums->b);
    struct tern_ref to = same_place(sums->now, sums->a) ? sums->b : sums->a;
    /* the sum moves to where the bytes arrive */
    bool replaces = sums->ordered ? from_above : untouched;
    if (untouched && !replaces)
        to = sums->b;
    struct tern_ref arriving = same_range(range, sums->input, to);
    struct tern_ref mine = same_range(range, sums->input, sums->now);
    int64_t received = add_recv(plan, from, arriving, after(plan, sums->ready));
    if (replaces) {
        sums->ready =
            add_reduce(plan, mine, arriving, after(plan, received) | after(plan, sums->ready));
        sums->now = to;
        return;
    }
    if (untouched) {
        struct tern_ref writable = same_range(range, sums->input, sums->a);
        sums->ready = add_copy(plan, mine, writable, after(plan, sums->ready));
        sums->now = sums->a;
        mine = writable;
    }
    sums->ready =
        add_reduce(plan, arriving, mine, after(plan, received) | after(plan, sums->ready));
}

void tern_plan_add_halving(struct tern_plan *plan, const struct tern_butterfly *butterfly,
                           bool ordered, struct tern_ref input, struct tern_ref a,
                           struct tern_ref b, struct tern_ref *ret_part, int64_t *ret_ready)
{
    int rank = plan->args.rank;
    struct sums sums = {ordered, input, a, b, input, -1};
    *ret_part = part(a, 0, 0);
    if (butterfly->player < 0) {
        *ret_ready = add_send(plan, butterfly->partner, input, 0);
        return;
    }
    if (butterfly->partner >= 0)
        join(plan, &sums, butterfly->partner, butterfly->partner > rank, input);
    for (int s = 0; s < butterfly->rounds; s++) {
        int player = tern_butterfly_peer(butterfly, butterfly->player, s);
        int peer = tern_butterfly_rank(butterfly, player);
        struct tern_ref theirs = tern_butterfly_range(butterfly, player, s + 1, input);
        struct tern_ref mine = tern_butterfly_range(butterfly, butterfly->player, s + 1, input);
        if (theirs.count)
            add_send(plan, peer, same_range(theirs, input, sums.now), after(plan, sums.ready));
        if (mine.count)
            join(plan, &sums, peer, peer > rank, mine);
    }
    *ret_part = same_range(
        tern_butterfly_range(butterfly, butterfly->player, butterfly->rounds, input), input,
        sums.now);
    *ret_ready = sums.ready;
}

void tern_plan_add_regather(struct tern_plan *plan, const struct tern_butterfly *butterfly,
                            struct tern_ref a, int64_t ready)
{
    /* after all steps: what this rank sent at the beginning may be where the result arrives */
    if (butterfly->player < 0) {
        add_recv(plan, butterfly->partner, a, AFTER_ALL);
        return;
    }
    for (int s = butterfly->rounds - 1; s >= 0; s--) {
        int player = tern_butterfly_peer(butterfly, butterfly->player, s);
        int peer = tern_butterfly_rank(butterfly, player);
        struct tern_ref theirs = tern_butterfly_range(butterfly, player, s + 1, a);
        struct tern_ref mine = tern_butterfly_range(butterfly, butterfly->player, s + 1, a);
        /* Parts arrive where other parts were sent from in the halving. */
        int64_t received = -1;
        if (theirs.count)
            received = add_recv(plan, peer, theirs, AFTER_ALL);
        if (mine.count)
            add_send(plan, peer, mine, ready < 0 ? 0 : after(plan, ready));
        if (received >= 0)
            ready = received;
    }
    if (butterfly->partner >= 0)
        add_send(plan, butterfly->partner, a, AFTER_ALL);
}

void tern_stages_add_butterfly(struct tern_stages *stages, enum tern_butterfly_kind kind,
                               int64_t size, int64_t bytes, int64_t unit, bool reduced)
{
    int64_t players = 1;
    for (; 2 * players <= size; players *= 2)
        ;
    if (players < size)
        tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                    .messages = 1,
                                                    .bytes = bytes,
                                                    .distance = 1,
                                                    .senders = size - players,
                                                    .reduced = reduced ? bytes : 0});
    for (int s = 0; (int64_t)1 << s < players; s++) {
        int64_t half = bytes / ((int64_t)2 << s), far = (int64_t)1 << s;
        if (kind == TERN_BUTTERFLY_SWING)
            far = swing(s) < 0 ? -swing(s) : swing(s);
        struct tern_stage round = {.repeat = 1,
                                   .messages = 1,
                                   .bytes = half,
                                   .distance = far,
                                   .senders = players,
                                   .reduced = reduced ? half : 0};
        tern_stages_add(stages, tern_stage_of_parts(round, bytes, unit, (int64_t)2 << s));
    }
}
