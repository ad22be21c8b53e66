/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MISMATCH_H
#define TERN_MISMATCH_H

/*
 * Detects ranks that call different collectives on a communicator.
 *
 * Each collective has a number, because all ranks must call the same collectives in the same order.
 * A collective's tag consists of this number and a mark that identifies the procedure. Posts on a
 * board carry the tag too. So a message of another procedure is never taken for one of ours, and
 * this costs nothing: tags and turns are compared anyway. But a rank may then wait for ever. A rank
 * that has waited long looks for a message, or post, of another rank that has its number and
 * another mark.
 */

#include "lib/coll/run/coll.h"

/* A tag: LASTING for persistent collectives, which have numbers of their own; QUESTION for what the
 * ranks ask each other before a collective (on_device.h); the number; the mark. */
enum {
    TERN_MARK_BITS = 6,
    TERN_MARKS = (1 << TERN_MARK_BITS) - 1,
    /* set if the collective is part of another procedure; the bits below are enum
     * tern_collective */
    TERN_MARK_INSIDE = 1 << (TERN_MARK_BITS - 1),
    TERN_COLL_QUESTION = 0x20000000,
    TERN_COLL_NUMBERS = (TERN_COLL_QUESTION - 1) & ~TERN_MARKS,
    TERN_COLL_LASTING = 0x40000000,
};
_Static_assert((int)TERN_COLLECTIVES <= (int)TERN_MARK_INSIDE, "each collective has a mark");

/* Another rank that is in another collective. */
struct tern_other {
    int rank, tag;
    bool remote; /* the rank is in the remote group */
};

/*
 * Looks for a rank that is not in the collective with these tags. `turn` is the first turn of the
 * collective on `board`; if `without_turns`, the collective has none. Returns true if there is one.
 * Call with the lane's lock held.
 */
bool tern_coll_find_other(struct tern_coll *coll, int tag, int local_tag,
                          const struct tern_board *board, tern_turn turn, bool without_turns,
                          struct tern_other *ret_other);

/* Writes the name of the procedure with this tag: "MPI_Barrier", "MPI_Ibarrier" or
 * "MPI_Barrier_init". */
enum { TERN_COLL_NAME_BYTES = 80 };
void tern_coll_write_name(char *text, int tag, bool blocking);

/* Records as error text that `other` is in another collective than this rank. Returns
 * TERN_ERR_NOT_SAME. */
int tern_coll_say_other(const struct tern_coll *coll, int tag, bool blocking,
                        const struct tern_other *other);

#endif
