/* SPDX-License-Identifier: BSD-3-Clause */

/* The byte mover to this rank itself. A packet is delivered before send returns. The peer's memory
 * is our own. */

#include "lib/btl/btl.h"
#include "lib/btl/path.h"
#include "lib/btl/peer.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

enum { PACKET_MAX = 64 * 1024, ON_STACK = 1024 };

static int self_init(void)
{
    return 0;
}

static void self_finalize(void)
{
}

static bool self_reaches(uint32_t job, uint32_t rank)
{
    return job == 0 && rank == tern_rte.rank;
}

static int self_connect(struct tern_peer *peer)
{
    tern_path_set(&peer->path, "self");
    peer->limits = (struct tern_limits){.packet_max = PACKET_MAX,
                                        .eager_max = PACKET_MAX,
                                        .eager_max_blocking = PACKET_MAX,
                                        .credit_factor = 1};
    return 0;
}

static int self_connect_bulk(struct tern_peer *peer)
{
    (void)peer;
    return 0;
}

static int self_send(struct tern_peer *peer, const struct tern_packet *packet, const void *payload,
                     size_t length)
{
    tern_btl_deliver(peer, packet, payload, length);
    return 0;
}

static int self_send_cursor(struct tern_peer *peer, const struct tern_packet *packet,
                            struct tern_cursor *cursor, size_t length)
{
    char small[ON_STACK], *room = length <= sizeof small ? small : malloc(length);
    if (!room)
        return tern_error(TERN_ERR_NO_MEM, "no memory for %zu packed bytes", length);
    tern_cursor_pack(cursor, room, length);
    tern_btl_deliver(peer, packet, room, length);
    if (room != small)
        free(room);
    return 0;
}

static int self_get(struct tern_transfer *transfer)
{
    tern_cursor_unpack(&transfer->cursor, (const void *)(uintptr_t)transfer->address,
                       transfer->length);
    transfer->length = 0;
    transfer->done(transfer, 0);
    return 0;
}

const struct tern_btl tern_btl_self = {
    .name = "self",
    .init = self_init,
    .finalize = self_finalize,
    .reaches = self_reaches,
    .connect = self_connect,
    .connect_bulk = self_connect_bulk,
    .send = self_send,
    .send_batched = self_send,
    .send_cursor = self_send_cursor,
    .get = self_get,
};
