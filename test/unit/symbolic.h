/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYMBOLIC_H
#define SYMBOLIC_H

/*
 * Plans executed without data. What a buffer holds is known by intervals: "units 10 to 49 are units
 * 110 to 149 of the inputs of ranks 3 to 7, added up". All ranks of a plan run together, every send
 * is synchronous, and what cannot be right is a fault: joining units of different index, adding a
 * contribution twice or out of order, writing to an input, lengths that do not agree, a deadlock,
 * messages left over.
 *
 * Since a plan's own dependencies rule out races (plan_read), and messages between two ranks match
 * in order, one execution stands for all.
 */

#include "content.h"

struct symbolic_turn;

struct symbolic_rank {
    struct tern_plan *plan;
    struct content buffers[TERN_BUFFERS];
    const int *mates; /* ranks of its node, in order, who share a board; NULL: all */
    int mate_count;
    struct symbolic_turn *turns; /* of the board; inside symbolic_run only */
    int *done_by;                /* likewise: per turn, by how many of its mates; the first one's */
    int local_first, remote_first; /* two groups: the first of its own, and of the other one */
};

/* Runs all ranks, whose plans are built and inputs put. `ordered`: joined are neighbours only, the
 * lower ranks left. NULL, or the fault. */
const char *symbolic_run(struct symbolic_rank *ranks, int count, bool ordered);

/* Runs all but `absent`, with sends that complete at once: NULL if none of them comes to its end.
 */
const char *symbolic_run_without(struct symbolic_rank *ranks, int count, int absent);

/* Lets go of plan and contents. */
void symbolic_release(struct symbolic_rank *rank);

#endif
