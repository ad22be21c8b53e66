/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_UNREACHED_H
#define TERN_MPIRUN_SERVE_UNREACHED_H

/* Notices about ranks that cannot connect to each other. The rank that tried to connect tells the
 * other one through mpirun (lib/util/net/launcher.h), because the other one may be waiting for the
 * connection. All functions run on the loop. */

#include "lib/util/net/launcher.h"
#include "mpirun/plan/job/job_facts.h"
#include "mpirun/wire/frame.h"

/* Prepares for the job. `deliver` sends a notice of rank `from` to rank `to` of this host; it
 * returns false if rank `to` is not in MPI. `send` is as in server_exchange.h. */
void tern_unreached_open(const struct tern_job *job, bool is_agent,
                         void (*send)(const struct tern_frame *frame),
                         bool (*deliver)(int to, int from, const struct tern_card *notice,
                                         size_t size));

/* Takes a notice from rank `from` of this host to rank `to` of any host. */
void tern_unreached_report(int from, int to, const struct tern_card *notice, size_t size);
/* The rank of this host has received the notice that was delivered last: delivers the next one. */
void tern_unreached_heard(int rank);
/* The rank of this host is in MPI, with the program that tern_cards_program numbers: delivers the
 * notice that waits for that. */
void tern_unreached_present(int rank);

/* Handles a frame that arrived over a link. Returns false if the frame is not a notice. */
bool tern_unreached_received(const struct tern_frame *frame);

#endif
