/* SPDX-License-Identifier: BSD-3-Clause */

/* The processes of a context. */

#include "lib/pml/context.h"

#include "lib/pml/lane.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

struct tern_peer tern_peer_stranger;

struct tern_peer *tern_context_peer(struct tern_context *context, int rank)
{
    struct tern_peer **place = &context->peers->peer[rank];
    if (*place == &tern_peer_stranger) {
        struct tern_process process = tern_peers_process(context->peers, rank);
        struct tern_peer *peer = tern_peer_get(context->lane->index, process.job, process.rank);
        if (!peer)
            return NULL;
        *place = peer;
    }
    return *place;
}

struct tern_peer *tern_context_known_peer(const struct tern_context *context, int rank)
{
    struct tern_process process = tern_peers_process(context->peers, rank);
    return tern_peer_find(context->lane->index, process.job, process.rank);
}

struct tern_peers *tern_peers_new(int count, const struct tern_run *runs, int run_count)
{
    size_t slots = sizeof(struct tern_peers) + (size_t)count * sizeof(struct tern_peer *);
    struct tern_peers *peers = malloc(slots + (size_t)run_count * sizeof *runs);
    if (!peers) {
        tern_error(TERN_ERR_NO_MEM, "no memory for a list of %d peers", count);
        return NULL;
    }
    peers->refs = 1;
    peers->count = count;
    peers->run_count = run_count;
    peers->runs = (struct tern_run *)((char *)peers + slots);
    memcpy(peers->runs, runs, (size_t)run_count * sizeof *runs);
    peers->far = false;
    for (int i = 0; i < run_count; i++)
        peers->far |= runs[i].job != 0;
    for (int rank = 0; rank < count; rank++)
        peers->peer[rank] = &tern_peer_stranger;
    return peers;
}

void tern_peers_release(struct tern_peers *peers)
{
    if (peers && tern_unref(&peers->refs) == 0)
        free(peers);
}
