/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/read.h"

#include "lib/btl/ofi/keys.h"
#include "lib/btl/ofi/ofi_link.h"
#include "lib/btl/ofi/region_cache.h"
#include "lib/util/error.h"

#include <rdma/fi_rma.h>
#include <stdlib.h>

enum {
    PIECE = 1 << 20,    /* bytes of a read */
    PIECES = 4,         /* of a transfer that are under way at the same time */
    READINGS_MOST = 16, /* transfers of a lane that are under way */
    RUN_LEAST = 4096,   /* a message in shorter runs is sent packed */
    BIAS = 4096,        /* added to offsets, so that none is 0 */
};

/* A piece under way. */
struct piece {
    struct tern_ofi_op op;
    struct tern_ofi_reading *reading; /* NULL: free */
};

/* A transfer under way. */
struct tern_ofi_reading {
    struct tern_list_node in_lane;
    struct tern_transfer *transfer;
    struct tern_ofi_link *link;
    struct tern_cursor cursor; /* what was not begun yet */
    uint64_t address, key;
    size_t left;
    int under_way;
    bool failed;
    struct tern_ofi_kept *kept; /* of our memory, if the provider wants that; else NULL */
    void *desc;
    struct piece pieces[PIECES];
};

/* ---- the sender's side ---- */

/* Memory of ours that a peer may read. */
struct offer {
    struct tern_ofi_kept *kept;
    struct tern_ofi_key_out key; /* if keys are raw */
};

/* Returns true if the peer reads by the endpoint of this lane. The lanes of two ranks may have
 * different numbers. */
static bool is_read_here(const struct tern_ofi_lane *lane, const struct tern_ofi_link *link)
{
    return (link->their_lane & (tern_lane_count - 1)) == lane->index;
}

/* Says in *ret_registration how the peer names the memory. Returns what register_memory returns. */
static int name_offer(struct tern_ofi_lane *lane, struct tern_ofi_link *link, struct offer *offer,
                      const void *start, struct tern_registration *ret_registration)
{
    int rc = tern_ofi_fabric.raw_keys
                 ? tern_ofi_key_tell(lane, link, &offer->kept->region, &offer->key)
                 : 0;
    if (rc)
        return rc;
    *ret_registration = (struct tern_registration){
        .address =
            (uintptr_t)start - (tern_ofi_fabric.virtual_addr ? 0 : offer->kept->start - BIAS),
        .key = tern_ofi_fabric.raw_keys ? offer->key.number : fi_mr_key(offer->kept->region.mr),
        .handle = offer};
    return 0;
}

int tern_ofi_register_memory(struct tern_peer *peer, const void *start, size_t length,
                             struct tern_registration *ret_registration)
{
    struct tern_ofi_link *link = peer->endpoint;
    struct tern_ofi_lane *lane = &tern_ofi_lanes[peer->lane];
    if (link->state != TERN_OFI_OPEN)
        return tern_ofi_link_seek(lane, link);
    if (tern_ofi_fabric.by_endpoint && !is_read_here(lane, link))
        return tern_error(TERN_ERR_UNSUPPORTED, "the peer reads by another endpoint");
    if (tern_ofi_fabric.raw_keys && !lane->free_sends)
        return TERN_ERR_AGAIN; /* no room to tell the key */
    struct offer *offer = malloc(sizeof *offer);
    if (!offer)
        return TERN_ERR_NO_MEM;
    int rc = tern_ofi_cache_get(lane->endpoint, start, length, FI_REMOTE_READ, &offer->kept);
    if (!rc && (rc = name_offer(lane, link, offer, start, ret_registration)))
        tern_ofi_cache_put(offer->kept);
    if (rc)
        free(offer);
    return rc;
}

void tern_ofi_deregister_memory(struct tern_peer *peer,
                                const struct tern_registration *registration)
{
    struct offer *offer = registration->handle;
    (void)peer;
    if (tern_ofi_fabric.raw_keys)
        tern_ofi_key_end(&offer->key);
    tern_ofi_cache_put(offer->kept);
    free(offer);
}

/* ---- the receiver's side ---- */

/* Ends a transfer when nothing of it is under way any more. After a failure the sender sends
 * everything as packets: no byte was counted. */
static void end(struct tern_ofi_lane *lane, struct tern_ofi_reading *reading)
{
    struct tern_transfer *transfer = reading->transfer;
    int error = reading->failed ? TERN_ERR_UNSUPPORTED : 0;
    tern_list_remove(&reading->in_lane);
    lane->reading_count--;
    tern_ofi_cache_put(reading->kept);
    if (tern_ofi_fabric.raw_keys)
        tern_ofi_unmap(reading->key);
    if (!error) {
        transfer->cursor = reading->cursor;
        transfer->address = reading->address;
        transfer->length = 0;
    }
    free(reading);
    transfer->done(transfer, error);
}

static struct piece *free_piece(struct tern_ofi_reading *reading)
{
    for (int i = 0; i < PIECES; i++)
        if (!reading->pieces[i].reading)
            return &reading->pieces[i];
    return NULL;
}

static size_t piece_max(void)
{
    size_t most = tern_ofi_fabric.info->ep_attr->max_msg_size;
    return most < PIECE ? most : PIECE;
}

/* Begins the next piece. Returns false if none can be begun now. */
static bool begin_piece(struct tern_ofi_lane *lane, struct tern_ofi_reading *reading)
{
    struct piece *piece = reading->left ? free_piece(reading) : NULL;
    struct tern_cursor next = reading->cursor;
    struct iovec run;
    size_t bytes, most = piece_max();
    /* for a process that has ended, the provider may say *again* for ever */
    reading->failed |= reading->link->state == TERN_OFI_LOST;
    if (!piece || reading->failed)
        return false;
    tern_cursor_runs(&next, &run, 1, reading->left < most ? reading->left : most, &bytes);
    piece->op.kind = TERN_OFI_READ;
    ssize_t rc = fi_read(lane->endpoint, run.iov_base, bytes, reading->desc, reading->link->address,
                         reading->address - (tern_ofi_fabric.virtual_addr ? 0 : BIAS), reading->key,
                         &piece->op);
    if (rc) {
        reading->failed = rc != -FI_EAGAIN;
        return false;
    }
    piece->reading = reading;
    reading->under_way++;
    reading->cursor = next;
    reading->address += bytes;
    reading->left -= bytes;
    return true;
}

static int begin_pieces(struct tern_ofi_lane *lane, struct tern_ofi_reading *reading)
{
    int count = 0;
    while (begin_piece(lane, reading))
        count++;
    if (!reading->under_way && (reading->failed || !reading->left)) {
        end(lane, reading);
        count++;
    }
    return count;
}

void tern_ofi_read_ended(struct tern_ofi_lane *lane, struct tern_ofi_op *op, int error)
{
    struct piece *piece = TERN_CONTAINER(op, struct piece, op);
    struct tern_ofi_reading *reading = piece->reading;
    piece->reading = NULL;
    reading->under_way--;
    reading->failed |= error != 0;
    begin_pieces(lane, reading);
}

int tern_ofi_read_on(struct tern_ofi_lane *lane)
{
    int count = 0;
    for (struct tern_list_node *at = lane->readings.next, *next; at != &lane->readings; at = next) {
        next = at->next;
        struct tern_ofi_reading *reading = TERN_CONTAINER(at, struct tern_ofi_reading, in_lane);
        if (reading->under_way < PIECES && reading->left)
            count += begin_pieces(lane, reading);
    }
    return count;
}

/* Returns true if it is worth to read the message run by run. */
static bool has_long_runs(const struct tern_transfer *transfer)
{
    struct tern_cursor cursor = transfer->cursor;
    struct iovec run;
    size_t bytes;
    tern_cursor_runs(&cursor, &run, 1, transfer->length, &bytes);
    return bytes == transfer->length || (bytes >= RUN_LEAST && !tern_ofi_fabric.local_keys);
}

static int register_target(struct tern_ofi_lane *lane, struct tern_ofi_reading *reading)
{
    struct tern_cursor cursor = reading->cursor;
    struct iovec run;
    if (!tern_ofi_fabric.local_keys)
        return 0;
    tern_cursor_runs(&cursor, &run, 1, reading->left, NULL);
    int rc = tern_ofi_cache_get(lane->endpoint, run.iov_base, run.iov_len, FI_READ, &reading->kept);
    if (!rc)
        reading->desc = reading->kept->region.desc;
    return rc;
}

/* Prepares to read: the key, and our memory if the provider wants it registered. */
static int prepare(struct tern_ofi_lane *lane, struct tern_ofi_reading *reading)
{
    struct tern_transfer *transfer = reading->transfer;
    int rc = 0;
    reading->key = transfer->key;
    if (tern_ofi_fabric.raw_keys)
        rc = tern_ofi_key_take(lane, transfer->peer, transfer->key, &reading->key);
    if (rc)
        return rc;
    rc = register_target(lane, reading);
    if (rc && tern_ofi_fabric.raw_keys)
        tern_ofi_unmap(reading->key);
    return rc;
}

int tern_ofi_get(struct tern_transfer *transfer)
{
    struct tern_ofi_link *link = transfer->peer->endpoint;
    struct tern_ofi_lane *lane = &tern_ofi_lanes[transfer->peer->lane];
    if (link->state != TERN_OFI_OPEN)
        return tern_ofi_link_seek(lane, link);
    if (lane->reading_count >= READINGS_MOST)
        return TERN_ERR_AGAIN;
    struct tern_ofi_reading *reading = has_long_runs(transfer) ? calloc(1, sizeof *reading) : NULL;
    if (reading) {
        reading->transfer = transfer;
        reading->link = link;
        reading->cursor = transfer->cursor;
        reading->address = transfer->address;
        reading->left = transfer->length;
    }
    if (!reading || prepare(lane, reading)) {
        free(reading);
        transfer->done(transfer, TERN_ERR_UNSUPPORTED);
        return 0;
    }
    tern_list_append(&lane->readings, &reading->in_lane);
    lane->reading_count++;
    begin_pieces(lane, reading);
    return 0;
}
