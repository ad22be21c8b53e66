/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DOUBT_H
#define TERN_DOUBT_H

/*
 * Ranks that call different collectives on a communicator.
 *
 * Each collective has a number, for all ranks must call the same ones in the same order. Its tag is
 * this number and a mark: which procedure it is. Posts on a board carry the tag too. So what
 * belongs to another procedure is never taken for one's own, and costs nothing to tell apart: tags
 * and turns are compared anyway. But a rank may then wait for ever. One that has waited long looks
 * whether another rank's message, or post, has its number and another mark.
 */

#include "lib/coll/run/coll.h"

/* A tag: LASTING for persistent collectives, which have numbers of their own; the number; the mark.
 */
enum {
    TERN_MARK_BITS = 6,
    TERN_MARKS = (1 << TERN_MARK_BITS) - 1,
    /* a part of another procedure; below it enum tern_collective */
    TERN_MARK_INSIDE = 1 << (TERN_MARK_BITS - 1),
    TERN_COLL_NUMBERS = 0x3fffffff & ~TERN_MARKS,
    TERN_COLL_LASTING = 0x40000000,
};
_Static_assert((int)TERN_COLLECTIVES <= (int)TERN_MARK_INSIDE, "each collective has a mark");

/* Another rank that is in something else. */
struct tern_other {
    int rank, tag;
    bool remote; /* the rank is one of the remote group */
};

/*
 * Looks for a rank that is not in the collective with these tags. `turn` is the collective's first
 * on `board`; without_turns: it has none there. With the lane's lock. Returns true if there is one.
 */
bool tern_coll_find_other(struct tern_coll *coll, int tag, int local_tag,
                          const struct tern_board *board, tern_turn turn, bool without_turns,
                          struct tern_other *ret_other);

/* Says that `other` is in something else than this rank's collective. Returns TERN_ERR_NOT_SAME. */
int tern_coll_say_other(const struct tern_coll *coll, int tag, bool blocking,
                        const struct tern_other *other);

#endif
