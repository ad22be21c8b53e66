/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Lost peers. A peer is lost if a connection to it has ended too early, though its process may live
 * on, or if no connection could be made, from here or from there. Packets may have been lost with a
 * connection, and nobody knows which. So nothing between the two processes can be trusted any more:
 * whatever waits for the peer ends with an error at once, and so does whatever is started with it
 * later.
 *
 * Messages that had arrived as a whole can still be received. A receive from any source might be
 * waiting for the lost peer, so it ends too, in communicators that have this peer. Other peers are
 * not affected. The error handler decides what the program does next.
 */

#include "lib/pml/match.h"
#include "lib/pml/pml_request.h"

/* Records why the peer is lost. Returns TERN_ERR_UNREACHABLE. */
static int why(const struct tern_peer *peer)
{
    return tern_error(TERN_ERR_UNREACHABLE, "%s", peer->lost);
}

static void fail(struct tern_pml_request *request, struct tern_peer *peer)
{
    request->peer = peer;
    tern_send_deregister(request);
    tern_recv_conceal(request);
    tern_number_take_back(request);
    tern_request_complete(&request->req, why(peer));
}

/* Ends a request in dialogue with the peer. The status of a receive says how many bytes came. */
static void fail_dialogue(struct tern_pml_request *request, struct tern_peer *peer)
{
    if (request->req.kind == &tern_pml_recv_kind)
        request->req.status._ucount = (uint64_t)request->arrived;
    fail(request, peer);
}

/* Ends all requests in dialogue with the peer: announced messages, and receives that wait for
 * DATA. A receive with a transfer under way has no number: it ends when the byte mover has ended
 * the transfer and so no longer writes into its buffer. */
static void fail_dialogues(struct tern_lane *lane, struct tern_peer *peer)
{
    for (uint32_t i = 1; i < lane->number_count; i++)
        if (!((uintptr_t)lane->numbers[i] & 1) && lane->numbers[i]->peer == peer)
            fail_dialogue(lane->numbers[i], peer);
}

void tern_pml_lost(struct tern_peer *peer, void *owner, const char *text)
{
    struct tern_lane *lane = &tern_lanes[peer->lane];
    if (tern_peer_lose(peer, text)) {
        lane->lost_peers++;
        lane->careful++;
    }
    tern_peer_update(peer);
    if (owner)
        fail(owner, peer);
    /* fails what waits for this peer: the byte mover refuses packets, and no transfer begins */
    tern_pending_flush(lane);
    fail_dialogues(lane, peer);
    for (struct tern_pml_request *request; (request = tern_match_waiting_for(lane, peer));) {
        tern_match_withdraw(request);
        fail(request, peer);
    }
    tern_lane_tell(lane); /* other threads may wait in a probe */
}

int tern_pml_check_source(const struct tern_context *context, int source)
{
    if (!context->lane->lost_peers)
        return 0;
    int first = source == MPI_ANY_SOURCE ? 0 : source;
    int end = source == MPI_ANY_SOURCE ? context->size : source + 1;
    for (int rank = first; rank < end; rank++) {
        const struct tern_peer *peer = tern_context_known_peer(context, rank);
        if (peer && peer->lost)
            return why(peer);
    }
    return 0;
}

void tern_pml_explain(struct tern_request *req)
{
    const struct tern_pml_request *request = tern_pml_request_of(req);
    if (request->peer && request->peer->lost)
        why(request->peer);
}
