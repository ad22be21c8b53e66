/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_ADDRESSES_H
#define TERN_MPIRUN_SERVE_ADDRESSES_H

/* Cards: how ranks are reached from other hosts, as each says it of itself (lib/util/launcher.h),
 * and who wants to know it. What comes from another host is one record of all its ranks that have
 * spoken, and is kept for all ranks here. On the loop. */

#include "lib/util/launcher.h"
#include "mpirun/plan/job_facts.h"
#include "mpirun/wire/frame.h"

/* `answer` is told, now or later, of rank `rank`'s card, which rank `asker` of this host has
 * sought; the bytes are valid during the call only. `send` as in server_exchange.h. */
void tern_cards_open(const struct tern_job *job, bool is_agent,
                     void (*send)(const struct tern_frame *frame),
                     void (*answer)(int asker, int rank, const struct tern_card *card,
                                    size_t size));

/* Forgets all. */
void tern_cards_close(void);

/* A rank of this host says it of itself; `first`: a program that has not done so before. Returns
 * the number of the program among those that run in its place. */
int tern_cards_put(int rank, bool first, const struct tern_card *card, size_t size);
/* A rank of this host wants to know it, of the program with the number of its own. */
void tern_cards_seek(int asker, int rank);

/* Number of the program of a rank of this host that has spoken last; 0: none has. */
int tern_cards_program(int rank);

/* Takes a frame that came over a link; false: it is about something else. */
bool tern_cards_received(const struct tern_frame *frame);

#endif
