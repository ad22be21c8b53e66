/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_RANK_STATES_H
#define TERN_MPIRUN_SERVE_RANK_STATES_H

/* The states of a rank, in the order in which it goes through them. */
enum tern_rank_state {
    TERN_RANK_NOT_STARTED,
    TERN_RANK_WITHOUT_MPI,
    TERN_RANK_IN_MPI, /* between MPI_Init and MPI_Finalize */
    TERN_RANK_FINALIZED,
    TERN_RANK_ENDED,
    TERN_RANK_STATES
};

#endif
