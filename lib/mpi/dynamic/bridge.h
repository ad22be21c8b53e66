/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BRIDGE_H
#define TERN_BRIDGE_H

/*
 * How two groups that have no communicator in common become one intercommunicator. Their roots have
 * a line to each other (lib/util/net/port.h) and exchange offers: the groups, an id, and the
 * introductions of all processes. The smaller id becomes the intercommunicator's.
 */

#include "lib/mpi/object/comm.h"

#include <stddef.h>

/* What one group sends to the other. All zero if there is none. */
struct tern_bridge_offer {
    char *bytes;
    size_t length;
};

/* Makes the group's offer at `root`, and prepares all processes. Collective over the
 * intracommunicator `comm`; blocks. Returns 0, or TERN_ERR_* with text on all processes. The caller
 * frees ret->bytes. */
int tern_bridge_offer(struct tern_comm *comm, int root, struct tern_bridge_offer *ret);

/* Makes the intercommunicator. `rc`: at the root 0, or the error with which the call ends on all
 * processes. `mine` and `theirs` are significant at the root. Collective over `comm`; blocks. */
int tern_bridge_open(struct tern_comm *comm, int root, int rc,
                     const struct tern_bridge_offer *mine, const struct tern_bridge_offer *theirs,
                     struct tern_comm **ret_comm);

#endif
