/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BUTTERFLY_H
#define TERN_BUTTERFLY_H

/*
 * Butterflies: log2 n rounds in each of which every rank meets one other, for 2^q ranks
 * (butterfly.c). Other sizes fold: of the first 2 * rest ranks one of each pair sits out, having
 * handed its input to the other.
 */

#include "lib/coll/plan/build.h"

enum tern_butterfly_kind {
    /* Round s: the rank whose number differs in bit s. Sums cover consecutive ranks, so that rank
     * order is kept. */
    TERN_BUTTERFLY_XOR,
    /* Round s: the rank (1 - (-2)^(s+1)) / 3 away, even ranks upwards and odd ones downwards. Half
     * the way of XOR on rings and tori (De Sensi et al., Swing, NSDI 2024, arXiv 2401.09356).
     * Commutative operations only. */
    TERN_BUTTERFLY_SWING,
};

struct tern_butterfly {
    enum tern_butterfly_kind kind;
    int rounds;  /* q */
    int rest;    /* pairs that fold */
    int player;  /* this rank's number among the 2^q; -1: it sits out */
    int partner; /* the other of its pair; -1: it is in none */
    int keep;    /* who plays of the pair that it is in; -1: the odd one of every pair */
};

/* `keep`: a rank that must play, or -1. */
struct tern_butterfly tern_butterfly_of(enum tern_butterfly_kind kind, int rank, int size,
                                        int keep);
/* The rank that plays as number `player`. */
int tern_butterfly_rank(const struct tern_butterfly *butterfly, int player);
/* The player that `player` meets in round s. */
int tern_butterfly_peer(const struct tern_butterfly *butterfly, int player, int s);

/*
 * Reduction of a vector so that each player holds one part of it (Rabenseifner 2004): round s
 * halves the range that a rank is responsible for. `a` and `b` are as long as `input`, which is not
 * written unless it is `a`. *ret_part is what this rank holds then, in place (empty: it sits out);
 * it lies in `a` or `b`. *ret_ready is the step that completes it.
 */
void tern_plan_add_halving(struct tern_plan *plan, const struct tern_butterfly *butterfly,
                           bool ordered, struct tern_ref input, struct tern_ref a,
                           struct tern_ref b, struct tern_ref *ret_part, int64_t *ret_ready);

/* Range of the vector `whole` that player `player` is responsible for before round s. */
struct tern_ref tern_butterfly_range(const struct tern_butterfly *butterfly, int player, int s,
                                     struct tern_ref whole);

/* The reverse: parts in `a` become the whole vector at every rank. */
void tern_plan_add_regather(struct tern_plan *plan, const struct tern_butterfly *butterfly,
                            struct tern_ref a, int64_t ready);

/* Price of halving a vector of `bytes` between units of `unit`, or the reverse if nothing is
 * `reduced`; folding included. */
void tern_stages_add_butterfly(struct tern_stages *stages, enum tern_butterfly_kind kind,
                               int64_t size, int64_t bytes, int64_t unit, bool reduced);

#endif
