/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_JOBS_RANK_ASKS_H
#define TERN_MPIRUN_JOBS_RANK_ASKS_H

/* What ranks ask mpirun (lib/util/net/question.h). The answers go to ports, so mpirun waits for no
 * rank. */

#include <stdbool.h>

/* Takes a part of a question of `rank`. Answers the question when the last part is there. */
void tern_asked_part(int rank, int ranks, const char *part, bool last);
/* Answers a whole question, or passes it on to the mpirun that has started this one. */
void tern_asked(const char *question);

#endif
