/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_ADDRESSES_H
#define TERN_MPIRUN_SERVE_ADDRESSES_H

/* Cards: the addresses by which ranks are reached from other hosts. Each rank reports its own
 * (lib/util/net/launcher.h), and others ask for them. A card from another host arrives in one
 * record with those of all its ranks that have reported, and the record is kept for all ranks here.
 * All functions run on the loop. */

#include "lib/util/net/launcher.h"
#include "mpirun/plan/job/job_facts.h"
#include "mpirun/wire/frame.h"

/* Prepares for the job. `answer` is called, at once or later, with the card of `rank` that `asker`,
 * a rank of this host, has asked for; its bytes are valid only during the call. `send` is as in
 * server_exchange.h. */
void tern_cards_open(const struct tern_job *job, bool is_agent,
                     void (*send)(const struct tern_frame *frame),
                     void (*answer)(int asker, int rank, const struct tern_card *card,
                                    size_t size));

/* Forgets all cards. */
void tern_cards_close(void);

/* Stores the card that a rank of this host reports. `first` means that its program reports for the
 * first time. Returns the number of that program, counting from 1 the MPI programs that run one
 * after another as this rank. */
int tern_cards_put(int rank, bool first, const struct tern_card *card, size_t size);
/* Asks for the card of `rank` on behalf of `asker`, a rank of this host. The card must be of the
 * program that has the same number as the asker's program. */
void tern_cards_seek(int asker, int rank);

/* Returns the number of the latest program of a rank of this host that has reported a card, or 0 if
 * none has. */
int tern_cards_program(int rank);

/* Handles a frame that arrived over a link. Returns false if the frame is not about cards. */
bool tern_cards_received(const struct tern_frame *frame);

#endif
