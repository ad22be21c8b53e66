/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BUTTERFLY_H
#define TERN_BUTTERFLY_H

/*
 * Butterflies, for 2^q ranks (butterfly.c): log2 n rounds, in each of which every rank exchanges
 * data with one other. Other sizes fold: the first 2 * rest ranks form pairs, and one rank of each
 * pair hands its input to the other and sits out.
 */

#include "lib/coll/plan/build.h"

/* Which rank a rank exchanges data with in each round. */
enum tern_butterfly_kind {
    /* Round s: the other is the rank whose number differs in bit s. Sums cover consecutive ranks,
     * so rank order is kept. */
    TERN_BUTTERFLY_XOR,
    /* Round s: the other is the rank (1 - (-2)^(s+1)) / 3 away, upwards from even ranks and
     * downwards from odd ranks. Messages travel half the distance of XOR on rings and tori (De
     * Sensi et al., Swing, NSDI 2024, arXiv 2401.09356). For commutative operations only. */
    TERN_BUTTERFLY_SWING,
};

/* A butterfly as one rank sees it. */
struct tern_butterfly {
    enum tern_butterfly_kind kind;
    int rounds;  /* number of rounds, q */
    int rest;    /* number of pairs that fold */
    /* this rank's number among the 2^q ranks that take part (players); -1: it sits out */
    int player;
    int partner; /* the other rank of its pair; -1: it is in no pair */
    /* a rank that plays even if it is the one of its pair that would sit out; -1: in every pair the
     * odd rank plays */
    int keep;
};

/* Describes the butterfly as `rank` sees it. `keep`: a rank that must play, or -1. */
struct tern_butterfly tern_butterfly_of(enum tern_butterfly_kind kind, int rank, int size,
                                        int keep);
/* Returns the rank that is player number `player`. */
int tern_butterfly_rank(const struct tern_butterfly *butterfly, int player);
/* Returns the player that `player` exchanges data with in round s. */
int tern_butterfly_peer(const struct tern_butterfly *butterfly, int player, int s);

/*
 * Adds a reduction of a vector after which each player holds one part of the result (Rabenseifner
 * 2004). Round s halves the range that a rank is responsible for. `a` and `b` are as long as
 * `input`, which is not written unless it is `a`. *ret_part: the part that this rank holds then, at
 * its place in `a` or `b`; empty if it sits out. *ret_ready: the step that completes the part.
 */
void tern_plan_add_halving(struct tern_plan *plan, const struct tern_butterfly *butterfly,
                           bool ordered, struct tern_ref input, struct tern_ref a,
                           struct tern_ref b, struct tern_ref *ret_part, int64_t *ret_ready);

/* Returns the range of `whole` that player `player` is responsible for before round s. */
struct tern_ref tern_butterfly_range(const struct tern_butterfly *butterfly, int player, int s,
                                     struct tern_ref whole);

/* Adds the reverse: collects the parts in `a` into the whole vector at every rank. Begins after
 * step `ready`. */
void tern_plan_add_regather(struct tern_plan *plan, const struct tern_butterfly *butterfly,
                            struct tern_ref a, int64_t ready);

/* Adds the price of halving a vector of `bytes` that is cut between units of `unit` bytes; the
 * price of the reverse if not `reduced`. Includes the folding. */
void tern_stages_add_butterfly(struct tern_stages *stages, enum tern_butterfly_kind kind,
                               int64_t size, int64_t bytes, int64_t unit, bool reduced);

#endif
