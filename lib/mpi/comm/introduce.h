/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_INTRODUCE_H
#define TERN_INTRODUCE_H

/*
 * Introduces the processes of a communicator to those of another job (lib/rte/jobs.h). All
 * functions but tern_introductions_exchange are collective over the communicator, and block.
 */

#include "lib/mpi/object/comm.h"

#include <stddef.h>

/* Introductions of several processes. The caller frees `bytes`. */
struct tern_introductions {
    char *bytes;
    size_t length;
};

/* Gathers the introductions of all processes of an intracommunicator. Prepares this process for
 * other jobs. Returns 0, or TERN_ERR_* with text on all processes; then *ret is empty. */
int tern_introductions_gather(struct tern_comm *comm, struct tern_introductions *ret);
/* Exchanges introductions with rank `other` of `comm`. Call it also after a failure, with an empty
 * `mine`: then the other end fails, too. Owner: the caller frees ret->bytes. */
int tern_introductions_exchange(struct tern_comm *comm, int other, int tag,
                                const struct tern_introductions *mine,
                                struct tern_introductions *ret);
/* Takes in the introductions that `root` has, on all processes. `rc`: 0, or the error of this
 * process, with which the call then ends; of the root, all processes learn it. */
int tern_introductions_spread(struct tern_comm *comm, int root, int rc,
                              struct tern_introductions *theirs);

#endif
