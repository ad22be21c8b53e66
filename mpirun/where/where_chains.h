/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WHERE_CHAINS_H
#define TERN_MPIRUN_WHERE_CHAINS_H

#include "mpirun/where/where_words.h"

/* Appends who waits for whom: circles, and the ranks for which others wait in the end.
 * (where_circles.h finds circles across jobs.) */
void tern_where_add_chains(struct tern_where_text *text, const struct tern_where_rank *ranks,
                           int size);

#endif
