/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_RANK_STATES_H
#define TERN_MPIRUN_SERVE_RANK_STATES_H

/* How far ranks are, in words. */

#include <stddef.h>

enum tern_rank_state {
    TERN_RANK_NOT_STARTED,
    TERN_RANK_WITHOUT_MPI,
    TERN_RANK_IN_MPI,
    TERN_RANK_FINALIZED,
    TERN_RANK_ENDED,
    TERN_RANK_STATES
};

/* A line for each state that some ranks are in, each after a newline; as many ranks as there is
 * room for. */
void tern_rank_states_describe(const enum tern_rank_state *states, int ranks, char *text,
                               size_t room);

#endif
