/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/transfer/read.h"

#include "lib/btl/ofi/fabric/device_choice.h"
#include "lib/btl/ofi/fabric/device_rails.h"
#include "lib/btl/ofi/fabric/region_cache.h"
#include "lib/btl/ofi/transfer/device_read.h"
#include "lib/btl/ofi/transfer/keys.h"
#include "lib/btl/ofi/transfer/offer.h"
#include "lib/btl/ofi/wire/ofi_link.h"
#include "lib/btl/ofi/wire/routes.h"
#include "lib/btl/path.h"
#include "lib/util/base/error.h"

#include <rdma/fi_rma.h>
#include <stdlib.h>

enum {
    PIECE = 1 << 20,          /* most bytes of a read */
    PIECE_LEAST = 128 << 10,  /* least, if a message is read by several rails */
    PIECES = 8,               /* of a transfer that are under way at the same time, ... */
    PIECES_EACH = 4,          /* ... by each rail */
    READINGS_MOST = 16,       /* transfers of a lane that are under way */
    RUN_LEAST = 4096,         /* a message in shorter runs is not read run by run ... */
    LAND_LEAST = 512 << 10,   /* ... but into memory of ours if it is so long; else sent packed */
    AWAIT_MS = 2000,          /* for reads from a dead rail to end */
};

/* A piece of a message. */
struct piece {
    struct tern_ofi_op op;
    struct tern_ofi_reading *reading;
    enum { FREE, UNDER_WAY, AGAIN } state; /* AGAIN: its read failed, another one must be begun */
    struct way *way;                       /* if UNDER_WAY */
    struct iovec run;                      /* in our memory */
    uint64_t offset;                       /* in the message */
    unsigned char *landed;                 /* if reading->lands: where it is read to, ... */
    struct tern_cursor cursor;             /* ... and where its bytes belong */
};

/* How a message is read by a rail. */
struct way {
    struct tern_ofi_port *port;
    fi_addr_t peer;
    uint32_t theirs;    /* the other end's rail */
    uint64_t base, key; /* of the message in the other end's memory */
    bool off;           /* not to be used any more */
    int under_way;
    uint64_t awaited_ms;        /* since when their rail is known to be dead; 0: it is not */
    struct tern_ofi_kept *kept; /* of our memory, if the provider wants that; else NULL */
    void *desc;
};

/* A transfer under way. */
struct tern_ofi_reading {
    struct tern_list_node in_lane;
    struct tern_transfer *transfer;
    struct tern_ofi_link *link;
    struct tern_cursor cursor; /* the first byte of the buffer that no piece reads yet */
    uint64_t begun;            /* bytes before it */
    size_t left;               /* bytes behind it */
    size_t piece_most;
    int under_way, again; /* pieces in that state */
    bool failed;
    bool lands; /* pieces are read into memory of our own (landing.h), and copied */
    bool ending;                   /* all pieces have been read */
    struct tern_ofi_target target; /* in device memory, if the card does not write there itself */
    int refusal; /* of the last registration of our memory that failed */
    uint32_t way_count;
    struct way ways[TERN_OFI_RAILS];
    struct piece pieces[PIECES];
};

/* Ends the use of a rail for a transfer. */
static void end_way(struct way *way)
{
    tern_ofi_cache_put(way->kept);
    way->kept = NULL;
    if (tern_ofi_fabric.raw_keys)
        tern_ofi_unmap(way->port->rail, way->key);
}

/* Ends a transfer when nothing of it is under way any more, now or, if its bytes are still on their
 * way to their places in device memory, later. After a failure the sender sends everything as
 * packets: no byte was counted. */
static void end(struct tern_ofi_lane *lane, struct tern_ofi_reading *reading)
{
    struct tern_transfer *transfer = reading->transfer;
    int error = reading->failed ? TERN_ERR_UNSUPPORTED : tern_ofi_target_end(&reading->target);
    reading->ending = error == TERN_ERR_AGAIN;
    if (reading->ending)
        return;
    tern_list_remove(&reading->in_lane);
    lane->reading_count--;
    for (uint32_t i = 0; i < reading->way_count; i++)
        end_way(&reading->ways[i]);
    tern_ofi_target_free(&reading->target);
    if (!error) {
        tern_cursor_seek(&transfer->cursor, transfer->cursor.offset + (int64_t)transfer->length);
        transfer->address += reading->begun;
        transfer->length = 0;
    }
    free(reading);
    transfer->done(transfer, error);
}

/* Notes that a piece is not under way any more. */
static void take_back(struct piece *piece, bool arrived)
{
    if (piece->reading->lands) {
        if (arrived && piece->reading->target.lands)
            tern_ofi_target_landed(&piece->reading->target, piece->offset, piece->landed,
                                   piece->run.iov_len);
        else if (arrived)
            tern_cursor_unpack(&piece->cursor, piece->landed, piece->run.iov_len);
        tern_ofi_landing_give(&piece->way->port->landing, piece->landed);
    }
    piece->state = arrived ? FREE : AGAIN;
    piece->way->under_way--;
    piece->way->off |= !arrived;
    piece->reading->under_way--;
    piece->reading->again += !arrived;
}

static int begin_pieces(struct tern_ofi_lane *lane, struct tern_ofi_reading *reading);

static int read_ended(struct tern_ofi_port *port, struct tern_ofi_op *op,
                      const struct fi_cq_data_entry *entry, int error)
{
    (void)entry;
    struct piece *piece = TERN_CONTAINER(op, struct piece, op);
    struct tern_ofi_reading *reading = piece->reading;
    take_back(piece, error == 0);
    if (reading->link->failover.keeps)
        tern_ofi_route_read(reading->link, port, error);
    begin_pieces(port->lane, reading);
    return 1;
}

/* Prepares a piece to be read: one that failed, or the next one. Returns NULL if there is none, or
 * no room for it. */
static struct piece *next_piece(struct tern_ofi_reading *reading)
{
    struct piece *free_one = NULL;
    for (int i = 0; i < PIECES; i++) {
        struct piece *piece = &reading->pieces[i];
        if (piece->state == AGAIN)
            return piece;
        if (piece->state == FREE)
            free_one = piece;
    }
    if (!reading->left || !free_one)
        return NULL;
    size_t bytes, most = reading->left < reading->piece_most ? reading->left : reading->piece_most;
    if (reading->lands) {
        bytes = most;
        free_one->cursor = reading->cursor;
        tern_cursor_seek(&reading->cursor, reading->cursor.offset + (int64_t)bytes);
    } else {
        tern_cursor_runs(&reading->cursor, &free_one->run, 1, most, &bytes);
    }
    free_one->op.ended = read_ended;
    free_one->reading = reading;
    free_one->run.iov_len = bytes;
    free_one->offset = reading->begun;
    free_one->state = AGAIN;
    reading->begun += bytes;
    reading->left -= bytes;
    reading->again++;
    return free_one;
}

/* Returns the rail with the fewest pieces under way, of those not in `busy`; NULL if there is
 * none. */
static struct way *idlest(struct tern_ofi_reading *reading, uint32_t busy)
{
    struct way *best = NULL;
    for (uint32_t i = 0; i < reading->way_count; i++) {
        struct way *way = &reading->ways[i];
        if (!way->off && !(busy >> i & 1) && way->under_way < PIECES_EACH &&
            (!best || way->under_way < best->under_way))
            best = way;
    }
    return best;
}

static bool all_off(const struct tern_ofi_reading *reading)
{
    for (uint32_t i = 0; i < reading->way_count; i++)
        if (!reading->ways[i].off)
            return false;
    return true;
}

/* Begins to read a piece by a rail. Returns 0 or libfabric's error. */
static ssize_t read_piece(struct piece *piece, const struct way *way)
{
    struct tern_ofi_landing *landing = &way->port->landing;
    if (piece->reading->lands) {
        piece->run.iov_base = piece->landed = tern_ofi_landing_take(landing);
        if (!piece->landed)
            return -FI_EAGAIN;
    }
    uint64_t bias = tern_ofi_fabric.virtual_addr ? 0 : TERN_OFI_BIAS;
    ssize_t rc = fi_read(way->port->endpoint, piece->run.iov_base, piece->run.iov_len, way->desc,
                         way->peer, way->base + piece->offset - bias, way->key, &piece->op);
    if (rc && piece->reading->lands)
        tern_ofi_landing_give(landing, piece->landed);
    return rc;
}

/* Begins the next piece, by a rail that has room. Returns false if none can be begun now. */
static bool begin_piece(struct tern_ofi_reading *reading)
{
    uint32_t busy = 0;
    /* for a process that has ended, the provider may say *again* for ever */
    reading->failed |= reading->link->state == TERN_OFI_LOST || all_off(reading);
    for (struct way *way; !reading->failed && (way = idlest(reading, busy));) {
        struct piece *piece = next_piece(reading);
        if (!piece)
            return false;
        ssize_t rc = read_piece(piece, way);
        if (rc == 0) {
            piece->state = UNDER_WAY;
            piece->way = way;
            way->under_way++;
            reading->under_way++;
            reading->again--;
            return true;
        }
        busy |= 1u << (way - reading->ways);
        way->off = rc != -FI_EAGAIN;
        reading->failed |= all_off(reading);
    }
    return false;
}

static int begin_pieces(struct tern_ofi_lane *lane, struct tern_ofi_reading *reading)
{
    int count = 0;
    while (begin_piece(reading))
        count++;
    if (!reading->under_way && !reading->ending &&
        (reading->failed || (!reading->left && !reading->again))) {
        end(lane, reading);
        count++;
    }
    return count;
}

static struct tern_ofi_reading *reading_at(struct tern_list_node *in_lane)
{
    return TERN_CONTAINER(in_lane, struct tern_ofi_reading, in_lane);
}

int tern_ofi_read_on(struct tern_ofi_lane *lane)
{
    int count = 0;
    for (struct tern_list_node *at = lane->readings.next, *next; at != &lane->readings; at = next) {
        next = at->next;
        struct tern_ofi_reading *reading = reading_at(at);
        if (reading->under_way < PIECES && (reading->left || reading->again || reading->failed))
            count += begin_pieces(lane, reading);
        else if (reading->ending)
            end(lane, reading);
    }
    return count;
}

/* ---- rails that die ---- */

void tern_ofi_readings_left(struct tern_ofi_lane *lane, const struct tern_ofi_port *port)
{
    for (struct tern_list_node *at = lane->readings.next; at != &lane->readings; at = at->next) {
        struct tern_ofi_reading *reading = reading_at(at);
        for (int i = 0; i < PIECES; i++)
            if (reading->pieces[i].state == UNDER_WAY && reading->pieces[i].way->port == port)
                take_back(&reading->pieces[i], false);
        for (uint32_t i = 0; i < reading->way_count; i++)
            reading->ways[i].off |= reading->ways[i].port == port;
    }
}

void tern_ofi_readings_await(struct tern_ofi_lane *lane, const struct tern_ofi_link *link,
                             uint32_t rail)
{
    for (struct tern_list_node *at = lane->readings.next; at != &lane->readings; at = at->next) {
        struct tern_ofi_reading *reading = reading_at(at);
        for (uint32_t i = 0; reading->link == link && i < reading->way_count; i++)
            if (reading->ways[i].theirs == rail) {
                reading->ways[i].off = true;
                reading->ways[i].awaited_ms = tern_ofi_now_ms();
            }
    }
}

int tern_ofi_readings_look(struct tern_ofi_lane *lane, uint64_t now_ms)
{
    int count = 0;
    for (struct tern_list_node *at = lane->readings.next; at != &lane->readings; at = at->next) {
        struct tern_ofi_reading *reading = reading_at(at);
        for (uint32_t i = 0; i < reading->way_count; i++) {
            const struct way *way = &reading->ways[i];
            if (way->awaited_ms && way->under_way && now_ms - way->awaited_ms > AWAIT_MS &&
                !tern_ofi_rail_is_dead(way->port->rail))
                count += tern_ofi_rail_leave_out(way->port->rail,
                                                 "reads from a card of another host that is dead "
                                                 "do not end");
        }
    }
    return count;
}

/* ---- the beginning ---- */

/* Returns true if it is worth to read the message run by run. */
static bool has_long_runs(const struct tern_transfer *transfer)
{
    struct tern_cursor cursor = transfer->cursor;
    struct iovec run;
    size_t bytes;
    tern_cursor_runs(&cursor, &run, 1, transfer->length, &bytes);
    return bytes == transfer->length ||
           (bytes >= RUN_LEAST && !tern_ofi_fabric.local_keys && !cursor.memory);
}

/* Adds a rail to those by which the message is read: one of the other end, by which it has `key`.
 * Without a route to that rail by one of our rails in `ours`, or a registration of our memory,
 * nothing is added. */
static void add_way(struct tern_ofi_reading *reading, const struct tern_ofi_rail_key *key,
                    uint32_t ours)
{
    const struct tern_ofi_link *link = reading->link;
    const struct tern_ofi_route *route = NULL;
    struct tern_cursor cursor = reading->cursor;
    struct iovec run;
    for (uint32_t i = 0; i < link->route_count && !route; i++)
        if (link->routes[i].theirs == key->rail)
            route = &link->routes[i];
    if (!route || !(ours >> route->port->rail & 1))
        return;
    struct way way = {.port = route->port,
                      .peer = route->address,
                      .theirs = route->theirs,
                      .base = key->address,
                      .key = key->key};
    if (tern_ofi_fabric.raw_keys && tern_ofi_map(way.port->rail, &key->raw, &way.key))
        return;
    if (reading->lands) {
        if (!tern_ofi_landing_open(&way.port->landing, way.port->rail, way.port->endpoint)) {
            end_way(&way);
            return;
        }
        way.desc = way.port->landing.region.desc;
    } else if (tern_ofi_fabric.local_keys || cursor.memory) {
        tern_cursor_runs(&cursor, &run, 1, reading->left, NULL);
        int rc = tern_ofi_cache_get(way.port->rail, way.port->endpoint, run.iov_base,
                                    run.iov_len, FI_READ, &way.kept);
        if (rc) {
            reading->refusal = rc;
            end_way(&way);
            return;
        }
        way.desc = way.kept->region.desc;
        if (way.kept->by_id)
            tern_path_add(&link->peer->path, TERN_OFI_DEVICE_PATH);
    }
    reading->ways[reading->way_count++] = way;
}

static void add_ways(struct tern_ofi_reading *reading, const struct tern_ofi_rail_key *keys,
                     int count)
{
    const struct tern_cursor *to = &reading->transfer->cursor;
    uint32_t near = to->memory == TERN_TYPE_DEVICE && to->place ? tern_ofi_device_rails(to->place)
                                                                : UINT32_MAX;
    for (int i = 0; i < count; i++)
        add_way(reading, &keys[i], near);
    for (int i = 0; i < count && !reading->way_count; i++)
        add_way(reading, &keys[i], ~near);
}

/* Finds the rails by which the message can be read into device memory of ours. If the provider
 * registers not even that, devices are not used any more. */
static void find_ways_by_spare(struct tern_ofi_reading *reading,
                               const struct tern_ofi_rail_key *keys, int count)
{
    struct tern_cursor before = reading->cursor;
    if (tern_ofi_devices_are_refused() ||
        !tern_ofi_target_spare(&reading->target, reading->transfer, &reading->cursor))
        return;
    reading->refusal = 0;
    add_ways(reading, keys, count);
    if (reading->way_count)
        return;
    if (reading->refusal)
        tern_ofi_devices_refused(reading->refusal);
    tern_ofi_target_free(&reading->target);
    reading->cursor = before;
}

/* Finds the rails by which the message can be read: into the program's memory, or else into memory
 * of our own. */
static void find_ways(struct tern_ofi_lane *lane, struct tern_ofi_reading *reading)
{
    const struct tern_transfer *transfer = reading->transfer;
    struct tern_ofi_rail_key keys[TERN_OFI_RAILS] = {
        {.address = transfer->address, .key = transfer->key}};
    int count = transfer->address == TERN_OFI_BY_NUMBER
                    ? tern_ofi_keys_take(lane, transfer->peer, transfer->key, keys)
                    : 1;
    bool long_runs = has_long_runs(transfer), device = reading->cursor.memory;
    bool direct = device ? tern_ofi_fabric.devices : true;
    if (long_runs && direct && reading->cursor.memory != TERN_TYPE_MIXED)
        add_ways(reading, keys, count);
    if (!reading->way_count && device && direct)
        find_ways_by_spare(reading, keys, count);
    if (!reading->way_count && (long_runs || transfer->length >= LAND_LEAST)) {
        reading->lands = true;
        if (device)
            tern_ofi_target_land(&reading->target, transfer);
        add_ways(reading, keys, count);
    }
    size_t most = tern_ofi_fabric.message_max;
    size_t piece = reading->lands ? TERN_OFI_LANDING_BYTES : PIECE;
    reading->piece_most = most < piece ? most : piece;
    if (reading->way_count > 1) { /* so that they end at the same time */
        size_t share = reading->left / (2 * reading->way_count);
        share = share > PIECE_LEAST ? share : PIECE_LEAST;
        if (share < reading->piece_most)
            reading->piece_most = share;
    }
}

int tern_ofi_get(struct tern_transfer *transfer)
{
    struct tern_ofi_link *link = transfer->peer->endpoint;
    struct tern_ofi_lane *lane = &tern_ofi_lanes[transfer->peer->lane];
    if (link->state != TERN_OFI_OPEN)
        return tern_ofi_link_seek(lane, link);
    if (lane->reading_count >= READINGS_MOST)
        return TERN_ERR_AGAIN;
    struct tern_ofi_reading *reading = calloc(1, sizeof *reading);
    if (reading) {
        reading->transfer = transfer;
        reading->link = link;
        reading->cursor = transfer->cursor;
        reading->left = transfer->length;
        find_ways(lane, reading);
    }
    if (!reading || !reading->way_count) {
        if (reading)
            tern_ofi_target_free(&reading->target);
        free(reading);
        transfer->done(transfer, TERN_ERR_UNSUPPORTED);
        return 0;
    }
    tern_list_append(&lane->readings, &reading->in_lane);
    lane->reading_count++;
    lane->moved_at = tern_ticks(); /* bytes will move soon */
    begin_pieces(lane, reading);
    return 0;
}
