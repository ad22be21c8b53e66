/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/run/mismatch.h"

#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <ctype.h>
#include <stdio.h>

void tern_call_set_inside(struct tern_call *call)
{
    call->mark |= TERN_MARK_INSIDE;
}

static const char *name_nothing(const void *comm)
{
    (void)comm;
    return "a communicator";
}

const char *(*tern_coll_name_of)(const void *comm) = name_nothing;

/* Returns true if both tags have one number. */
static bool same_number(int tag, int other)
{
    return !((tag ^ other) & ~TERN_MARKS);
}

/* Looks for another collective on the board. In the collective's own turn every rank must post for
 * that collective. If the collective has no turns, looks at the next turn: a rank that posted there
 * may be ahead of us, so only the number in its tag tells. */
static bool find_on_board(const struct tern_coll *coll, int tag, const struct tern_board *board,
                          tern_turn turn, bool without_turns, struct tern_other *ret_other)
{
    tern_turn posted;
    if (without_turns)
        turn = (tern_turn)(uint32_t)tag << 32 | (uint32_t)(board->turn + 1);
    for (int r = -1; (r = tern_board_find_other(board, turn, r, &posted)) >= 0;) {
        int theirs = (int)(posted >> 32);
        if (without_turns && !same_number(tag, theirs))
            continue;
        *ret_other = (struct tern_other){tern_coll_rank_of_mate(coll, r), theirs, false};
        return true;
    }
    return false;
}

bool tern_coll_find_other(struct tern_coll *coll, int tag, int local_tag,
                          const struct tern_board *board, tern_turn turn, bool without_turns,
                          struct tern_other *ret_other)
{
    int rank, theirs;
    if (tern_pml_find_alike(&coll->context, tag, TERN_MARKS, &rank, &theirs)) {
        *ret_other = (struct tern_other){rank, theirs, coll->remote_size > 0};
        return true;
    }
    if (coll->local &&
        tern_pml_find_alike(&coll->local->context, local_tag, TERN_MARKS, &rank, &theirs)) {
        *ret_other = (struct tern_other){rank, theirs, false};
        return true;
    }
    return find_on_board(coll, tag, board, turn, without_turns, ret_other);
}

void tern_coll_write_name(char *text, int tag, bool blocking)
{
    enum tern_collective collective = tag & TERN_MARKS & ~TERN_MARK_INSIDE;
    const char *name = collective < TERN_COLLECTIVES ? tern_plan_collective_name(collective) : "?";
    if (tag & TERN_MARK_INSIDE)
        snprintf(text, TERN_COLL_NAME_BYTES, "%s",
                 collective == TERN_BARRIER ? "MPI_Finalize or MPI_Comm_disconnect"
                                            : "a procedure that makes a communicator");
    else if (tag & TERN_COLL_LASTING)
        snprintf(text, TERN_COLL_NAME_BYTES, "MPI_%c%s_init", toupper(name[0]), name + 1);
    else if (blocking)
        snprintf(text, TERN_COLL_NAME_BYTES, "MPI_%c%s", toupper(name[0]), name + 1);
    else
        snprintf(text, TERN_COLL_NAME_BYTES, "MPI_I%s", name);
}

int tern_coll_say_other(const struct tern_coll *coll, int tag, bool blocking,
                        const struct tern_other *other)
{
    char mine[TERN_COLL_NAME_BYTES], theirs[TERN_COLL_NAME_BYTES], also[TERN_COLL_NAME_BYTES];
    const char *where = other->remote ? " of the remote group" : "";
    const char *comm = tern_coll_name_of(coll->context.comm);
    tern_coll_write_name(mine, tag, blocking);
    if ((tag & TERN_MARK_INSIDE) && tern_wait_procedure)
        snprintf(mine, sizeof mine, "%s", tern_wait_procedure);
    tern_coll_write_name(theirs, other->tag, true);
    tern_coll_write_name(also, other->tag, false);
    if (!((tag ^ other->tag) & TERN_MARKS))
        return tern_error(TERN_ERR_NOT_SAME,
                          "rank %d%s and this rank are both in %s on %s, but their earlier "
                          "collective calls differ; all ranks must call the same collectives in "
                          "the same order",
                          other->rank, where, mine, comm);
    bool one_name = other->tag & (TERN_MARK_INSIDE | TERN_COLL_LASTING);
    return tern_error(
        TERN_ERR_NOT_SAME,
        "rank %d%s is in %s%s%s, this rank is in %s, on %s; all ranks must call the same "
        "collective",
        other->rank, where, theirs, one_name ? "" : " or ", one_name ? "" : also, mine, comm);
}
