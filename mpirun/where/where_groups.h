/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WHERE_GROUPS_H
#define TERN_MPIRUN_WHERE_GROUPS_H

#include "mpirun/where/where_words.h"

/* Appends a line for each group of ranks in the same place, the largest first, and which ranks
 * collectives lack. */
void tern_where_add_groups(struct tern_where_text *text, const struct tern_where_rank *ranks,
                           int size);

#endif
