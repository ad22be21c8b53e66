/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A byte mover for tests that does everything as awkwardly as lib/btl/btl.h permits. It is used only if the parameter `btl`
 * names it. Packets go through shm's rings, and then:
 *
 *   - any send may be answered `again`; credit may wait for the next send or round
 *   - packets that have arrived are kept and delivered later, in order per peer but not between peers, in random portions;
 *     payloads go to the receive's memory in parts where the pml permits that
 *   - streams are sent from both ends towards the middle, in pieces of any size, and end later
 *   - transfers may be answered `again`, are copied in pieces in any order, may stop in the middle, and end later; the memory
 *     must be registered, and the peer may refuse that
 *   - sleep may be refused, and is while anything is kept here
 *   - each peer has other limits, and some have another byte mover for transfers, or none
 *
 * What each rank does follows from TERN_STRICT_SEED (default 1), its rank and the order of its calls.
 */
#include "lib/btl/btl.h"
#include "lib/btl/peer.h"
#include "lib/node/segment.h"
#include "lib/pml/lane.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { KEPT_MAX = 4 << 20, RUNS = 16, MAGIC = 0x5ea1ed };

extern const struct tern_btl tern_btl_shm;
extern const struct tern_btl tern_btl_strict; /* below */

/* A packet that has arrived, or credit that is to be sent. */
struct kept {
    struct tern_list_node link;
    struct tern_packet packet;
    size_t length;
    unsigned char payload[];
};

/* What a lane knows about a rank of the node. */
struct endpoint {
    struct tern_peer *peer; /* NULL: nothing was sent or has arrived */
    struct tern_list_node arrived, credit, streams;
    /* the first packet of `arrived` goes in parts to `place`, which belongs to `owner`; NULL: it does not */
    void *owner;
    struct tern_cursor place;
    size_t placed; /* bytes in place */
};

static struct lane {
    struct endpoint *endpoints; /* by local rank */
    struct tern_list_node transfers;
    size_t kept_bytes;
    unsigned kept; /* packets, streams and transfers kept here */
    /* rounds in which nothing is refused: a thread goes to sleep, and nothing would wake it to try again */
    int calm;
    /* rounds in which is looked whether a thread has slept although it was refused, and sleeps until then */
    int refused;
    uint64_t sleeps;
    uint64_t random;
} lanes[TERN_LANES_MAX];

/* Memory that a peer may get. Its address is the key. Never freed: a peer that reads it too late must find that. */
struct registration {
    uint64_t magic; /* MAGIC while the memory is registered */
    uint64_t start, length;
    struct registration *next_free;
};
static struct registration *free_registrations[TERN_LANES_MAX];

static bool brings_shm; /* shm itself is not in use, so that its functions are called from here only */
static bool (*deliver)(struct tern_peer *from, const struct tern_packet *packet, const void *payload, size_t length);

/* ---- chance ---- */

static uint64_t draw(struct lane *lane)
{
    lane->random ^= lane->random << 13;
    lane->random ^= lane->random >> 7;
    lane->random ^= lane->random << 17;
    return lane->random >> 11;
}

/* Returns true once in `n` calls. */
static bool once_in(struct lane *lane, unsigned n)
{
    return draw(lane) % n == 0;
}

/* Returns true if a call is to be answered `again`, about once in `n` calls. */
static bool again(struct lane *lane, unsigned n)
{
    return lane->calm == 0 && once_in(lane, n);
}

/* Returns a number of bytes from 1 to `most`, often a small one. */
static size_t some_bytes(struct lane *lane, size_t most)
{
    size_t limit = (size_t)1 << draw(lane) % 18;
    return 1 + draw(lane) % (limit < most ? limit : most);
}

/* ---- sending ---- */

static struct lane *lane_of(const struct tern_peer *peer)
{
    return &lanes[peer->lane];
}

static struct endpoint *endpoint_of(struct tern_peer *peer)
{
    struct endpoint *endpoint = &lane_of(peer)->endpoints[tern_rte_local_rank(peer->rank)];
    if (!endpoint->peer) {
        endpoint->peer = peer;
        tern_list_init(&endpoint->arrived);
        tern_list_init(&endpoint->credit);
        tern_list_init(&endpoint->streams);
    }
    return endpoint;
}

static struct kept *keep(struct tern_list_node *list, const struct tern_packet *packet, const void *payload, size_t length)
{
    struct kept *kept = calloc(1, sizeof *kept + length); /* no malloc: a test replaces that one by one without memory */
    if (!kept)
        abort();
    kept->packet = *packet;
    kept->length = length;
    if (length)
        memcpy(kept->payload, payload, length);
    tern_list_append(list, &kept->link);
    return kept;
}

/* Sends the credit that waits. Returns 0 or TERN_ERR_AGAIN. */
static int send_credit(struct endpoint *endpoint)
{
    while (!tern_list_empty(&endpoint->credit)) {
        struct kept *first = TERN_CONTAINER(endpoint->credit.next, struct kept, link);
        int rc = tern_btl_shm.send(endpoint->peer, &first->packet, first->payload, first->length);
        if (rc)
            return rc;
        tern_list_remove(&first->link);
        free(first);
    }
    return 0;
}

static void check_length(const struct tern_peer *peer, size_t length)
{
    if (length <= peer->limits.packet_max)
        return;
    tern_log("strict: a packet of %zu bytes to rank %u, which takes %u", length, peer->rank, peer->limits.packet_max);
    abort();
}

static int strict_send(struct tern_peer *peer, const struct tern_packet *packet, const void *payload, size_t length)
{
    check_length(peer, length);
    if (again(lane_of(peer), 6) || send_credit(endpoint_of(peer)))
        return TERN_ERR_AGAIN;
    return tern_btl_shm.send(peer, packet, payload, length);
}

static int strict_send_batched(struct tern_peer *peer, const struct tern_packet *packet, const void *payload, size_t length)
{
    if (packet->kind == TERN_PACKET_CREDIT && once_in(lane_of(peer), 2)) {
        keep(&endpoint_of(peer)->credit, packet, payload, length);
        return 0;
    }
    return strict_send(peer, packet, payload, length);
}

static int strict_send_cursor(struct tern_peer *peer, const struct tern_packet *packet, struct tern_cursor *cursor, size_t length)
{
    check_length(peer, length);
    if (again(lane_of(peer), 6) || send_credit(endpoint_of(peer)))
        return TERN_ERR_AGAIN;
    return tern_btl_shm.send_cursor(peer, packet, cursor, length);
}

static int strict_send_head(struct tern_peer *peer, const struct tern_packet *packet, struct tern_cursor *cursor, size_t length,
                            const struct tern_rendezvous *rendezvous)
{
    if (length > peer->limits.head_max) {
        tern_log("strict: %zu bytes go with an announcement to rank %u, which takes %u", length, peer->rank, peer->limits.head_max);
        abort();
    }
    if (once_in(lane_of(peer), 8))
        return TERN_ERR_NO_MEM;
    if (again(lane_of(peer), 6) || send_credit(endpoint_of(peer)))
        return TERN_ERR_AGAIN;
    return tern_btl_shm.send_head(peer, packet, cursor, length, rendezvous);
}

static void strict_stream(struct tern_peer *peer, struct tern_stream *stream)
{
    tern_list_append(&endpoint_of(peer)->streams, &stream->link);
    lane_of(peer)->kept++;
}

/* Sends a piece from either end of what is left. Returns what send_cursor returns. */
static int send_piece(struct lane *lane, struct tern_peer *peer, struct tern_stream *stream)
{
    struct tern_cursor *left = &stream->cursor, end = *left;
    size_t most = (size_t)(left->length - left->offset);
    size_t length = some_bytes(lane, most < peer->limits.packet_max ? most : peer->limits.packet_max);
    bool at_end = once_in(lane, 2);
    if (at_end)
        tern_cursor_seek(&end, left->length - (int64_t)length);
    stream->packet.context = (uint64_t)end.offset;
    int rc;
    do
        rc = tern_btl_shm.send_cursor(peer, &stream->packet, &end, length);
    while (rc == TERN_ERR_NO_MEM && !at_end && (length /= 2) > 0); /* the node's memory is full, the ring stays small */
    if (!rc && at_end)
        left->length -= (int64_t)length;
    else if (!rc)
        *left = end;
    return rc;
}

/* Goes on with the first stream to a peer. Returns the number of pieces. */
static int feed_stream(struct lane *lane, struct endpoint *endpoint)
{
    struct tern_stream *stream = TERN_CONTAINER(endpoint->streams.next, struct tern_stream, link);
    int count = 0;
    tern_list_remove(&stream->link);
    while (stream->cursor.offset < stream->cursor.length && !once_in(lane, 4) && send_piece(lane, endpoint->peer, stream) == 0)
        count++;
    if (stream->cursor.offset == stream->cursor.length && once_in(lane, 2)) {
        lane->kept--;
        stream->done(stream);
        return count + 1;
    }
    tern_list_append(&endpoint->streams, &stream->link); /* another stream is the next one's turn */
    return count;
}

/* ---- receiving ---- */

/* Stands before the pml's own function: keeps what shm delivers. */
static bool keep_arrived(struct tern_peer *from, const struct tern_packet *packet, const void *payload, size_t length)
{
    if (from->rank == tern_rte.rank || !tern_btl_shm.reaches(from->job, from->rank))
        return deliver(from, packet, payload, length);
    struct lane *lane = lane_of(from);
    keep(&endpoint_of(from)->arrived, packet, payload, length);
    __atomic_store_n(&from->came_by, &tern_btl_strict, __ATOMIC_RELAXED);
    lane->kept++;
    lane->kept_bytes += length;
    return true;
}

static void drop_first(struct lane *lane, struct kept *first)
{
    lane->kept--;
    lane->kept_bytes -= first->length;
    free(first);
}

/* Puts the next part of the first packet into its place. Returns true if the packet has been delivered. */
static bool place_part(struct lane *lane, struct endpoint *endpoint, struct kept *first)
{
    size_t part = some_bytes(lane, first->length - endpoint->placed);
    tern_cursor_unpack(&endpoint->place, first->payload + endpoint->placed, part);
    endpoint->placed += part;
    if (endpoint->placed < first->length)
        return false;
    void *owner = endpoint->owner;
    endpoint->owner = NULL;
    tern_list_remove(&first->link);
    tern_btl_placed(endpoint->peer, &first->packet, first->length, owner);
    drop_first(lane, first);
    return true;
}

static bool may_be_placed(const struct kept *first)
{
    int kind = first->packet.kind;
    return first->length && (kind == TERN_PACKET_EAGER || kind == TERN_PACKET_EAGER_SYNC || kind == TERN_PACKET_DATA);
}

/* Delivers packets of a peer that have arrived, or parts of them. Returns the number of packets. */
static int deliver_some(struct lane *lane, struct endpoint *endpoint)
{
    int count = 0;
    bool more = true;
    while (more && !tern_list_empty(&endpoint->arrived) && !once_in(lane, 3)) {
        struct kept *first = TERN_CONTAINER(endpoint->arrived.next, struct kept, link);
        if (!endpoint->owner && may_be_placed(first) && once_in(lane, 2)) {
            endpoint->placed = 0;
            endpoint->owner = tern_btl_place(endpoint->peer, &first->packet, first->length, &endpoint->place);
        }
        if (endpoint->owner) {
            count += place_part(lane, endpoint, first);
            continue;
        }
        tern_list_remove(&first->link); /* before: delivering may send to ourselves and come back here */
        more = deliver(endpoint->peer, &first->packet, first->payload, first->length);
        drop_first(lane, first);
        count++;
    }
    return count;
}

/* ---- transfers ---- */

static int strict_register(struct tern_peer *peer, const void *start, size_t length, struct tern_registration *ret)
{
    if (once_in(lane_of(peer), 16))
        return TERN_ERR_UNSUPPORTED;
    struct registration **free_list = &free_registrations[peer->lane], *registration = *free_list;
    if (registration)
        *free_list = registration->next_free;
    else if (!(registration = malloc(sizeof *registration)))
        return tern_error(TERN_ERR_NO_MEM, "no memory to register a buffer");
    *registration = (struct registration){.magic = MAGIC, .start = (uintptr_t)start, .length = length};
    *ret = (struct tern_registration){.address = (uintptr_t)start, .key = (uintptr_t)registration, .handle = registration};
    return 0;
}

static void strict_deregister(struct tern_peer *peer, const struct tern_registration *known)
{
    struct registration *registration = known->handle;
    if (registration->magic != MAGIC) {
        tern_log("strict: memory is deregistered twice");
        abort();
    }
    registration->magic = 0;
    registration->next_free = free_registrations[peer->lane];
    free_registrations[peer->lane] = registration;
}

static int strict_get(struct tern_transfer *transfer)
{
    struct lane *lane = lane_of(transfer->peer);
    if (!transfer->length || !transfer->key) {
        tern_log("strict: a transfer of %zu bytes with key %#lx", transfer->length, (long)transfer->key);
        abort();
    }
    if (again(lane, 3))
        return TERN_ERR_AGAIN;
    if (once_in(lane, 8)) {
        transfer->done(transfer, TERN_ERR_UNSUPPORTED);
        return 0;
    }
    tern_list_append(&lane->transfers, &transfer->link);
    lane->kept++;
    return 0;
}

static ssize_t read_peer(const struct tern_peer *peer, const struct iovec *to, int count, uint64_t address, size_t bytes)
{
    struct iovec remote = {(void *)(uintptr_t)address, bytes};
    return process_vm_readv(tern_segment_rank((uint32_t)tern_rte_local_rank(peer->rank))->pid, to, (unsigned)count, &remote, 1, 0);
}

/* The bytes must be registered now: the pml may deregister them only after `done`. */
static void check_registered(const struct tern_transfer *transfer, const struct registration *registration)
{
    if (registration->magic == MAGIC && transfer->address >= registration->start &&
        transfer->length <= registration->length && /* no overflow below */
        transfer->address + transfer->length <= registration->start + registration->length)
        return;
    tern_log("strict: a transfer reads %zu bytes of rank %u that are not registered", transfer->length, transfer->peer->rank);
    abort();
}

/* Copies some bytes. Returns 0 or TERN_ERR_*. */
static int copy_piece(struct lane *lane, struct tern_transfer *transfer)
{
    struct registration registration;
    struct iovec whole = {&registration, sizeof registration}, runs[RUNS];
    if (read_peer(transfer->peer, &whole, 1, transfer->key, sizeof registration) != sizeof registration)
        return errno == EPERM || errno == ENOSYS ? TERN_ERR_UNSUPPORTED
                                                 : tern_error(TERN_ERR_OTHER, "cannot read a registration: %s", strerror(errno));
    check_registered(transfer, &registration);
    struct tern_cursor before = transfer->cursor;
    size_t bytes;
    int count = tern_cursor_runs(&transfer->cursor, runs, RUNS, some_bytes(lane, transfer->length), &bytes);
    ssize_t n = read_peer(transfer->peer, runs, count, transfer->address, bytes);
    if (n <= 0)
        return tern_error(TERN_ERR_OTHER, "cannot read the memory of rank %u: %s", transfer->peer->rank, strerror(errno));
    transfer->cursor = before;
    tern_cursor_seek(&transfer->cursor, before.offset + n);
    transfer->address += (uint64_t)n;
    transfer->length -= (size_t)n;
    return 0;
}

/* Goes on with the first transfer. Returns 1 if it has ended. */
static int go_on(struct lane *lane)
{
    struct tern_transfer *transfer = TERN_CONTAINER(lane->transfers.next, struct tern_transfer, link);
    int error = 0;
    tern_list_remove(&transfer->link);
    while (transfer->length && !error && !once_in(lane, 4))
        error = once_in(lane, 64) ? TERN_ERR_UNSUPPORTED : copy_piece(lane, transfer);
    if (!error && (transfer->length || once_in(lane, 2))) { /* later */
        tern_list_append(&lane->transfers, &transfer->link);
        return 0;
    }
    lane->kept--;
    transfer->done(transfer, error);
    return 1;
}

/* ---- progress ---- */

static int progress_endpoint(struct lane *lane, struct endpoint *endpoint)
{
    int count = 0;
    if (!endpoint->peer)
        return 0;
    send_credit(endpoint);
    count += deliver_some(lane, endpoint);
    if (!tern_list_empty(&endpoint->streams))
        count += feed_stream(lane, endpoint);
    return count;
}

/* A refused sleep must not take place. With threads another one may have slept. */
static void check_awake(struct lane *lane)
{
    if (lane->refused > 0 && !tern_threads && tern_lanes[0].counters.sleeps != lane->sleeps) {
        tern_log("strict: a thread has slept although that was refused");
        abort();
    }
    lane->refused -= lane->refused > 0;
}

static int strict_progress(uint32_t index)
{
    struct lane *lane = &lanes[index];
    int count = 0;
    check_awake(lane);
    lane->calm -= lane->calm > 0;
    if (brings_shm && lane->kept_bytes < KEPT_MAX)
        tern_btl_shm.progress(index);
    uint32_t first = (uint32_t)draw(lane) % tern_rte.local_size;
    for (uint32_t i = 0; i < tern_rte.local_size; i++)
        count += progress_endpoint(lane, &lane->endpoints[(first + i) % tern_rte.local_size]);
    for (uint64_t turns = draw(lane) % 4; turns > 0 && !tern_list_empty(&lane->transfers); turns--)
        count += go_on(lane);
    return count;
}

static bool strict_before_sleep(uint32_t index)
{
    struct lane *lane = &lanes[index];
    if (lane->kept || once_in(lane, 4)) {
        lane->refused = 2; /* the round before the sleep, and the round after */
        lane->sleeps = tern_lanes[0].counters.sleeps;
        return false;
    }
    lane->calm = 2; /* of this round, which comes before the sleep, and the next */
    return true;
}

/* ---- start and end ---- */

/* Returns true if the parameter `btl` names one of these byte movers. */
static bool named(const char *const *names)
{
    const char *list = tern_param_string("btl");
    for (const char *word = list && *list != '^' ? list : ""; *word; word += *word == ',') {
        size_t length = strcspn(word, ",");
        for (int i = 0; names[i]; i++)
            if (length == strlen(names[i]) && strncmp(word, names[i], length) == 0)
                return true;
        word += length;
    }
    return false;
}

static int strict_init(void)
{
    if (!named((const char *const[]){"strict", NULL}))
        return tern_error(TERN_ERR_UNSUPPORTED, "strict is for tests that name it");
    brings_shm = !named((const char *const[]){"shm", "sm", "vader", NULL});
    int rc = brings_shm ? tern_btl_shm.init() : tern_rte.local_size < 2 ? TERN_ERR_UNSUPPORTED : 0;
    if (rc)
        return rc;
    const char *seed = getenv("TERN_STRICT_SEED");
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        lanes[i].random = ((seed ? strtoull(seed, NULL, 0) : 1) << 20 | tern_rte.rank << 3 | i) * 0x9e3779b97f4a7c15u | 1;
        tern_list_init(&lanes[i].transfers);
        lanes[i].endpoints = calloc(tern_rte.local_size, sizeof *lanes[i].endpoints);
        if (!lanes[i].endpoints)
            return tern_error(TERN_ERR_NO_MEM, "no memory for %u endpoints", tern_rte.local_size);
    }
    deliver = tern_btl_deliver;
    tern_btl_deliver = keep_arrived;
    return 0;
}

static void strict_finalize(void)
{
    tern_btl_deliver = deliver;
    for (uint32_t i = 0; i < tern_lane_count; i++)
        free(lanes[i].endpoints);
    if (brings_shm)
        tern_btl_shm.finalize();
}

static void strict_leave(void)
{
    if (brings_shm)
        tern_btl_shm.leave();
}

static int strict_come_back(void)
{
    return brings_shm ? tern_btl_shm.come_back() : 0;
}

static bool strict_reaches(uint32_t job, uint32_t rank)
{
    return tern_btl_shm.reaches(job, rank) && rank != tern_rte.rank;
}

/* The limits differ from peer to peer; both ends of a link have the same. Programs of test/mpi rely on sends of 12000 bytes that
 * do not wait. */
static int strict_connect(struct tern_peer *peer)
{
    int rc = tern_btl_shm.connect(peer);
    uint32_t small = 12 * 1024 + 4096 * ((peer->rank ^ tern_rte.rank) & 1);
    if (!rc)
        peer->limits = (struct tern_limits){
            .packet_max = 2 * small, .eager_max = small, .eager_max_blocking = small + 4096, .head_max = small - 12000,
            .credit_factor = 2};
    return rc;
}

/* Leaves some pairs of ranks to shm, if shm is in use beside strict, or else without transfers. */
static int strict_connect_bulk(struct tern_peer *peer)
{
    return (peer->rank + tern_rte.rank) % 4 == 3 ? TERN_ERR_UNSUPPORTED : 0;
}

const struct tern_btl tern_btl_strict = {
    .name = "strict",
    .init = strict_init,
    .finalize = strict_finalize,
    .leave = strict_leave,
    .come_back = strict_come_back,
    .reaches = strict_reaches,
    .connect = strict_connect,
    .connect_bulk = strict_connect_bulk,
    .send = strict_send,
    .send_batched = strict_send_batched,
    .send_cursor = strict_send_cursor,
    .send_head = strict_send_head,
    .stream = strict_stream,
    .register_memory = strict_register,
    .deregister_memory = strict_deregister,
    .get = strict_get,
    .progress = strict_progress,
    .before_sleep = strict_before_sleep,
};
