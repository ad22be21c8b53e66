/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_PLACES_H
#define TERN_DEVICE_PLACES_H

/*
 * The ranks of a node tell each other where their GPUs are, for the order of rings and trees
 * (lib/coll/price/device_order.h).
 *
 * Each rank writes into the node's memory where the first GPU is that it uses in a long collective.
 * It writes that once, before it answers whether its buffers are on a device (device_agreement.c).
 * So when all have answered, all read the same places, and need no further message.
 */

#include "lib/coll/run/coll.h"

/* Tells where the GPU of a buffer is, unless this rank has told before, or the communicator has too
 * few ranks on a node for an order to matter. Returns true if the other ranks of the node can read
 * it. The first call takes some tens of milliseconds. Thread-safe. */
bool tern_coll_tell_gpu(const struct tern_coll *coll, int device);

/* Makes coll->order of what the ranks of this node have told, if that is enough. Does so once. Call
 * when all have answered that they have told. Returns 0 or TERN_ERR_NO_MEM. */
int tern_coll_order_gpus(struct tern_coll *coll);

#endif
