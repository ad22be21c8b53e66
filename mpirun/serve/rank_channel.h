/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_RANK_CHANNEL_H
#define TERN_MPIRUN_SERVE_RANK_CHANNEL_H

/* The socket by which Tern's ranks of this host report and ask without PMIx
 * (lib/util/net/launcher.h). All functions run on the loop. */

#include "lib/util/base/ancestry.h"
#include "lib/util/net/launcher.h"
#include "mpirun/plan/job/job_facts.h"
#include "mpirun/serve/clients.h"

/* Opens the socket. `meet` is called when all ranks of this host wait for all others, and calls
 * `met` when the ranks of all hosts do. *ret_ranks_end is the end that ranks inherit; the caller
 * owns it. *ret_words is the second and third word of TERN_REPORTS; the caller frees it. Returns 0
 * or TERN_ERR_OTHER. */
int tern_reports_open(const struct tern_job *job, const struct tern_client_listener *listener,
                      void (*meet)(void (*met)(void)), int *ret_ranks_end, char **ret_words);
/* Reads what has arrived so far and tells the listener. If the rank is known to have ended, this
 * includes everything it sent before its end. */
void tern_reports_read(int rank);
/* Returns the process of the rank's latest program that is in MPI, in this process's numbers; 0 if
 * there is none. */
pid_t tern_reports_process(int rank);
/* Returns the process of the rank's latest program that is, or has been, in MPI, and its ancestors
 * as they were when it began; process 0 if there was none. */
const struct tern_ancestry *tern_reports_latest(int rank);
/* Sends to `asker` the card of `rank` that it has asked for. */
void tern_reports_answer(int asker, int rank, const struct tern_card *card, size_t size);
/* Passes on to rank `to` what rank `from` reported about reaching it (unreached.h). Returns false
 * if rank `to` is not in MPI. */
bool tern_reports_unreached(int to, int from, const struct tern_card *notice, size_t size);

#endif
