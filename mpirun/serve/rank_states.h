/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_RANK_STATES_H
#define TERN_MPIRUN_SERVE_RANK_STATES_H

/* Describes in words how far the ranks have come. */

#include <stddef.h>

/* The states of a rank, in the order in which it goes through them. */
enum tern_rank_state {
    TERN_RANK_NOT_STARTED,
    TERN_RANK_WITHOUT_MPI,
    TERN_RANK_IN_MPI,
    TERN_RANK_FINALIZED,
    TERN_RANK_ENDED,
    TERN_RANK_STATES
};

/* Writes into `text`, of `room` bytes, one line for each state that some rank is in. Each line
 * begins with a newline and lists as many ranks as fit. */
void tern_rank_states_describe(const enum tern_rank_state *states, int ranks, char *text,
                               size_t room);

#endif
