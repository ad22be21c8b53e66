/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WHERE_RANK_H
#define TERN_MPIRUN_WHERE_RANK_H

#include "mpirun/serve/rank_states.h"
#include "mpirun/serve/rank_where.h"

/* What mpirun knows of a rank. */
struct tern_where_rank {
    enum tern_rank_state state;
    const char *host;
    bool seen; /* its host has answered: `where` is valid */
    bool job_in_mpi; /* some rank of the job has called MPI_Init, so this one probably will */
    struct tern_where where;
};

#endif
