/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Processes of other jobs that receives and probes wait for. Of this job's processes the launcher
 * says which has ended. Of another job's only the end of a connection tells, or a call that nobody
 * takes. So whoever waits for such a process connects to it, if no message has done so before.
 *
 * The first packet on the connection is a CREDIT of nothing. It is no pending packet, because
 * MPI_Finalize waits for those, and the other process may have ended in peace by then.
 */

#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/pml/pml_request.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

/* A receive from any source calls at most this many processes. */
enum { CALLS_MOST = 64 };

/* A process that is being called. */
struct call {
    struct tern_peer *peer;
    struct call *next;
};

static struct call *calls[TERN_LANES_MAX]; /* by lane */

/* Goes on with a call. Returns false if it is over: there is a connection, or the peer is lost. */
static bool go_on(const struct call *call)
{
    struct tern_peer *peer = call->peer;
    struct tern_packet packet = {.kind = TERN_PACKET_CREDIT};
    struct tern_reply nothing = {0};
    if (peer->lost)
        return false;
    int rc = peer->btl->send(peer, &packet, &nothing, sizeof nothing);
    if (rc == TERN_ERR_AGAIN)
        return true;
    if (rc)
        tern_pml_lost(peer, NULL, tern_error_text(rc));
    return false;
}

/* Goes on with the lane's calls. Returns the number of those that are over. */
static int go_on_all(struct tern_lane *lane)
{
    int count = 0;
    for (struct call **link = &calls[lane->index], *call; (call = *link);) {
        if (go_on(call)) {
            link = &call->next;
            continue;
        }
        *link = call->next;
        free(call);
        count++;
    }
    if (!calls[lane->index])
        tern_progress_unregister(lane, go_on_all);
    return count;
}

/* Calls the process of a rank if it is of another job and nothing was sent to it yet. Without
 * memory there is no call. */
static void call_rank(struct tern_context *context, int rank)
{
    struct tern_lane *lane = context->lane;
    struct tern_peer *peer =
        tern_peers_process(context->peers, rank).job ? tern_context_peer(context, rank) : NULL;
    if (!peer || peer->btl || tern_peer_ready(peer))
        return;
    struct call *call = malloc(sizeof *call);
    if (!call || (!calls[lane->index] && tern_progress_register(lane, go_on_all))) {
        free(call);
        return;
    }
    *call = (struct call){peer, calls[lane->index]};
    calls[lane->index] = call;
}

void tern_pml_call_source(struct tern_context *context, int source)
{
    if (!context->peers->far || (source == MPI_ANY_SOURCE && context->called_any))
        return;
    if (source != MPI_ANY_SOURCE) {
        call_rank(context, source);
        return;
    }
    context->called_any = true;
    for (int rank = 0; rank < context->size && rank < CALLS_MOST; rank++)
        call_rank(context, rank);
}

void tern_pml_call_nobody(void)
{
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        tern_lane_lock(&tern_lanes[i]);
        if (calls[i])
            tern_progress_unregister(&tern_lanes[i], go_on_all);
        for (struct call *call; (call = calls[i]);) {
            calls[i] = call->next;
            free(call);
        }
        tern_lane_unlock(&tern_lanes[i]);
    }
}
