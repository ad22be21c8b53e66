/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_RANK_CHANNEL_H
#define TERN_MPIRUN_SERVE_RANK_CHANNEL_H

/* What Tern's ranks of this host say and ask without PMIx (lib/util/launcher.h). On the loop. */

#include "lib/util/launcher.h"
#include "mpirun/plan/job_facts.h"
#include "mpirun/serve/clients.h"

/* What is to be inherited by the ranks and is the caller's to close, and the first words of
 * TERN_REPORTS but the descriptor's number, malloc'ed. 0 or TERN_ERR_OTHER. */
int tern_reports_open(const struct tern_job *job, const struct tern_client_listener *listener,
                      int *ret_ranks_end, char **ret_words);
/* Tells the listener what has come so far: all that a rank said before it ended, if its end is
 * known. */
void tern_reports_read(int rank);
/* The card that a rank has sought. */
void tern_reports_answer(int asker, int rank, const struct tern_card *card, size_t size);
/* Tells rank `to` what rank `from` has reported (unreached.h). False: rank `to` is not in MPI. */
bool tern_reports_unreached(int to, int from, const struct tern_card *notice, size_t size);

#endif
