/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_UNREACHED_H
#define TERN_MPIRUN_SERVE_UNREACHED_H

/* Ranks that cannot connect to each other: the one that has tried tells the other by mpirun
 * (lib/util/launcher.h), as the other may only wait for it. On the loop. */

#include "lib/util/launcher.h"
#include "mpirun/plan/job_facts.h"
#include "mpirun/wire/frame.h"

/* `deliver` sends a notice of rank `from` to rank `to` of this host; false: the rank is not in MPI.
 * `send` as in server_exchange.h. */
void tern_unreached_open(const struct tern_job *job, bool is_agent,
                         void (*send)(const struct tern_frame *frame),
                         bool (*deliver)(int to, int from, const struct tern_card *notice,
                                         size_t size));

/* Takes what rank `from` of this host tells rank `to` of any host. */
void tern_unreached_report(int from, int to, const struct tern_card *notice, size_t size);
/* The rank of this host has heard the notice that was delivered last. */
void tern_unreached_heard(int rank);
/* The rank of this host is in MPI, with the program that tern_cards_program says: delivers what
 * waits for that. */
void tern_unreached_present(int rank);

/* Takes a frame that came over a link. False if it is about something else. */
bool tern_unreached_received(const struct tern_frame *frame);

#endif
