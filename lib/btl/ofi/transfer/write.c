/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/transfer/write.h"

#include "lib/btl/ofi/transfer/exposed.h"
#include "lib/btl/ofi/wire/ofi_link.h"
#include "lib/util/base/error.h"

#include <rdma/fi_rma.h>
#include <stdlib.h>

enum { WRITINGS_MOST = 16 }; /* of a lane that are under way */

/* A piece of a message. */
struct piece {
    struct tern_ofi_op op;
    struct tern_ofi_writing *writing;
    unsigned char *bytes; /* registered; NULL: the piece is not under way */
};

/* A message under way. */
struct tern_ofi_writing {
    struct tern_list_node in_lane;
    struct tern_transfer *transfer;
    struct tern_ofi_link *link;
    struct tern_ofi_port *port;
    struct tern_cursor cursor; /* the first byte that no piece has */
    uint64_t begun;            /* bytes before it */
    size_t left;               /* bytes behind it */
    int under_way;
    bool failed;
    struct piece pieces[TERN_OFI_LANDING_PIECES];
};

/* Ends a message of which nothing is under way any more. */
static void end(struct tern_ofi_lane *lane, struct tern_ofi_writing *writing)
{
    struct tern_transfer *transfer = writing->transfer;
    int error = writing->failed ? TERN_ERR_UNSUPPORTED : 0;
    tern_list_remove(&writing->in_lane);
    lane->writing_count--;
    free(writing);
    transfer->done(transfer, error);
}

static struct piece *free_piece(struct tern_ofi_writing *writing)
{
    for (int i = 0; i < TERN_OFI_LANDING_PIECES; i++)
        if (!writing->pieces[i].bytes)
            return &writing->pieces[i];
    return NULL;
}

/* Writes `length` bytes that the piece has. Returns 0 or libfabric's error. */
static ssize_t write_piece(struct piece *piece, size_t length)
{
    struct tern_ofi_writing *writing = piece->writing;
    const struct tern_transfer *transfer = writing->transfer;
    struct iovec here = {piece->bytes, length};
    struct fi_rma_iov there = {transfer->address + writing->begun, length, transfer->key};
    struct fi_msg_rma message = {.msg_iov = &here,
                                 .desc = &writing->port->landing.region.desc,
                                 .iov_count = 1,
                                 .addr = writing->link->address,
                                 .rma_iov = &there,
                                 .rma_iov_count = 1,
                                 .context = &piece->op};
    return fi_writemsg(writing->port->endpoint, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

static int begin_pieces(struct tern_ofi_lane *lane, struct tern_ofi_writing *writing);

static int write_ended(struct tern_ofi_port *port, struct tern_ofi_op *op,
                       const struct fi_cq_data_entry *entry, int error)
{
    (void)entry;
    struct piece *piece = TERN_CONTAINER(op, struct piece, op);
    struct tern_ofi_writing *writing = piece->writing;
    tern_ofi_landing_give(&writing->port->landing, piece->bytes);
    piece->bytes = NULL;
    writing->under_way--;
    writing->failed |= error != 0;
    begin_pieces(port->lane, writing);
    return 1;
}

/* Begins to write the next piece. Returns false if none can be begun now. */
static bool begin_piece(struct tern_ofi_writing *writing)
{
    struct tern_ofi_landing *landing = &writing->port->landing;
    struct tern_cursor next = writing->cursor;
    struct piece *piece = free_piece(writing);
    size_t most = tern_ofi_fabric.message_max;
    writing->failed |= writing->link->state != TERN_OFI_OPEN;
    if (writing->failed || !writing->left || !piece)
        return false;
    piece->bytes = tern_ofi_landing_take(landing);
    if (!piece->bytes)
        return false;
    most = most < TERN_OFI_LANDING_BYTES ? most : TERN_OFI_LANDING_BYTES;
    size_t length = writing->left < most ? writing->left : most;
    tern_cursor_pack(&next, piece->bytes, length);
    piece->op.ended = write_ended;
    piece->writing = writing;
    ssize_t error = write_piece(piece, length);
    if (error) {
        tern_ofi_landing_give(landing, piece->bytes);
        piece->bytes = NULL;
        writing->failed |= error != -FI_EAGAIN;
        return false;
    }
    writing->cursor = next;
    writing->begun += length;
    writing->left -= length;
    writing->under_way++;
    return true;
}

static int begin_pieces(struct tern_ofi_lane *lane, struct tern_ofi_writing *writing)
{
    int count = 0;
    while (begin_piece(writing))
        count++;
    if (!writing->under_way && (writing->failed || !writing->left)) {
        end(lane, writing);
        count++;
    }
    return count;
}

int tern_ofi_write_on(struct tern_ofi_lane *lane)
{
    int count = 0;
    for (struct tern_list_node *at = lane->writings.next, *next; at != &lane->writings; at = next) {
        next = at->next;
        count += begin_pieces(lane, TERN_CONTAINER(at, struct tern_ofi_writing, in_lane));
    }
    return count;
}

int tern_ofi_put(struct tern_transfer *transfer)
{
    struct tern_ofi_link *link = transfer->peer->endpoint;
    struct tern_ofi_lane *lane = &tern_ofi_lanes[transfer->peer->lane];
    struct tern_ofi_writing *writing = NULL;
    if (link->state == TERN_OFI_OPEN && lane->writing_count >= WRITINGS_MOST)
        return TERN_ERR_AGAIN;
    if (tern_ofi_copies_reach(link, transfer->by_lane) && tern_ofi_delivers() &&
        tern_ofi_landing_open(&link->port->landing, link->port->rail, link->port->endpoint))
        writing = calloc(1, sizeof *writing);
    if (!writing) {
        transfer->done(transfer, TERN_ERR_UNSUPPORTED);
        return 0;
    }
    writing->transfer = transfer;
    writing->link = link;
    writing->port = link->port;
    writing->cursor = transfer->cursor;
    writing->left = transfer->length;
    tern_list_append(&lane->writings, &writing->in_lane);
    lane->writing_count++;
    begin_pieces(lane, writing);
    return 0;
}
