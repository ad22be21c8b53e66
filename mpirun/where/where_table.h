/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WHERE_TABLE_H
#define TERN_MPIRUN_WHERE_TABLE_H

/* Says in a page where the ranks of a job are: groups of ranks in the same place, who waits for
 * whom, messages that nobody asked for. Pure functions. */

#include "mpirun/where/where_rank.h"

/* Returns the table, some lines that begin with a newline and four blanks each. The caller frees
 * it. */
char *tern_where_table(const struct tern_where_rank *ranks, int size);

#endif
