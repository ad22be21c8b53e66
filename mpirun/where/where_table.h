/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WHERE_TABLE_H
#define TERN_MPIRUN_WHERE_TABLE_H

/* Says in a page where the ranks of a job are: groups of ranks in the same place, who waits for
 * whom, messages that nobody asked for. Pure functions. */

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

/* Returns the table, some lines that begin with a newline and four blanks each. The caller frees
 * it. */
char *tern_where_table(const struct tern_where_rank *ranks, int size);

#endif
