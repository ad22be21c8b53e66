/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The message path behind the links: sends and receives of our own, while one who holds the job's secret, and has gone mad,
 * sends packets of every kind: right ones, and such as name any request, offset and length. No packet makes us write outside a
 * receive's memory or read outside a send's, nor leave anything behind. Peers may be lost in the middle of anything.
 */
#include "fuzz.h"

#include "lib/pml/match.h"
#include "lib/pml/pml_request.h"

enum { RANKS = 3, REQUESTS = 12, STEPS = 64, SLOT = 1 << 12 };
static const uint64_t open_id = 2 << 10, other_id = 4 << 10;

/* Where the generated objects are not linked: the handle that requests refer to. */
__attribute__((weak)) char empty_request[512] __asm__("ompi_request_empty");

static struct tern_context context;
static struct {
    struct tern_request *request; /* NULL: free */
    char *memory;
    bool sends;
} slots[REQUESTS];

/* ---- a byte mover that goes nowhere ---- */

static bool full; /* it answers `again` */
static unsigned sum;

static int swallow(struct tern_peer *peer, const struct tern_packet *packet, const void *payload, size_t length)
{
    const unsigned char *bytes = payload;
    (void)packet;
    for (size_t i = 0; i < length; i++)
        sum += bytes[i];
    return peer->lost ? TERN_ERR_UNREACHABLE : full ? TERN_ERR_AGAIN : 0;
}

static int swallow_cursor(struct tern_peer *peer, const struct tern_packet *packet, struct tern_cursor *cursor,
                          size_t length)
{
    static char packed[SLOT];
    MUST(length <= sizeof packed && cursor->offset >= 0 && cursor->offset + (int64_t)length <= cursor->length);
    if (peer->lost || full)
        return peer->lost ? TERN_ERR_UNREACHABLE : TERN_ERR_AGAIN;
    tern_cursor_pack(cursor, packed, length);
    return swallow(peer, packet, packed, length);
}

/* All of it at once, as far as the cursor says. */
static void stream(struct tern_peer *peer, struct tern_stream *stream)
{
    MUST(stream->cursor.offset >= 0 && stream->cursor.offset < stream->cursor.length);
    while (stream->cursor.offset < stream->cursor.length) {
        int64_t left = stream->cursor.length - stream->cursor.offset;
        full = false;
        swallow_cursor(peer, &stream->packet, &stream->cursor, left < SLOT ? (size_t)left : SLOT);
    }
    stream->done(stream);
}

static const struct tern_btl pieces = { .name = "pieces", .send = swallow, .send_batched = swallow,
                                        .send_cursor = swallow_cursor };
static const struct tern_btl streams = { .name = "streams", .send = swallow, .send_batched = swallow,
                                         .send_cursor = swallow_cursor, .stream = stream };

/* Memory is copied later, or never; what the peer's memory holds does not matter. */
static struct tern_list_node transfers = { &transfers, &transfers };
static int registered; /* buffers */

static int register_memory(struct tern_peer *peer, const void *start, size_t length, struct tern_registration *ret)
{
    (void)peer;
    MUST(start && length);
    if (length == 300)
        return TERN_ERR_UNSUPPORTED;
    registered++;
    *ret = (struct tern_registration){ .address = (uintptr_t)start, .key = length };
    return 0;
}

static void deregister_memory(struct tern_peer *peer, const struct tern_registration *registration)
{
    (void)peer;
    MUST(registration->key && registered > 0);
    registered--;
}

static int get(struct tern_transfer *transfer)
{
    MUST(!transfer->peer->lost && transfer->length && transfer->cursor.offset + (int64_t)transfer->length <= transfer->cursor.length);
    if (full)
        return TERN_ERR_AGAIN;
    tern_list_append(&transfers, &transfer->link);
    return 0;
}

/* Ends a transfer: as a whole, in the middle, or by a failure. */
static void end_transfer(unsigned how)
{
    static const char bytes[SLOT];
    if (tern_list_empty(&transfers))
        return;
    struct tern_transfer *transfer = TERN_CONTAINER(how & 4 ? transfers.next : transfers.prev, struct tern_transfer, link);
    int error = how % 4 == 1 ? TERN_ERR_UNSUPPORTED : how % 4 == 2 ? TERN_ERR_OTHER : 0;
    size_t part = error ? transfer->length / 2 : transfer->length;
    tern_list_remove(&transfer->link);
    MUST(tern_cursor_unpack(&transfer->cursor, bytes, part) == part);
    transfer->address += part;
    transfer->length -= part;
    transfer->done(transfer, error);
}

static const struct tern_btl gets = { .name = "gets", .send = swallow, .send_batched = swallow,
                                      .send_cursor = swallow_cursor, .register_memory = register_memory,
                                      .deregister_memory = deregister_memory, .get = get };
static const struct tern_btl *const movers[] = { &pieces, &streams, &gets, &gets };

/* ---- ours ---- */

static void release(int i)
{
    const struct tern_pml_request *request = tern_pml_request_of(slots[i].request);
    if (!slots[i].sends && !request->req.status._cancelled)
        MUST((int64_t)request->req.status._ucount >= 0 && (int64_t)request->req.status._ucount <= request->length);
    slots[i].request->kind->release(slots[i].request);
    free(slots[i].memory);
    slots[i].request = NULL;
}

static void begin(struct fuzz_input *input, bool sends)
{
    static const int sizes[] = { 0, 1, 8, 24, 64, 65, 300, 4000 };
    int i = 0, size = sizes[fuzz_byte(input) % 8], other = (int)(fuzz_byte(input) % (RANKS + 1)), tag = (int)(fuzz_byte(input) % 4), rc;
    while (i < REQUESTS && slots[i].request)
        i++;
    if (i == REQUESTS)
        return;
    slots[i].memory = malloc((size_t)size + !size);
    if (!slots[i].memory)
        abort();
    memset(slots[i].memory, i, (size_t)size);
    slots[i].sends = sends;
    if (sends)
        rc = tern_pml_isend(&context, slots[i].memory, size, &tern_type_bytes, other % RANKS, tag,
                            tag & 1 ? TERN_SEND_SYNCHRONOUS : TERN_SEND_STANDARD, &slots[i].request);
    else
        rc = tern_pml_irecv(&context, slots[i].memory, size, &tern_type_bytes, other == RANKS ? MPI_ANY_SOURCE : other,
                            tag == 3 ? MPI_ANY_TAG : tag, &slots[i].request);
    if (rc) {
        MUST(sends && rc == TERN_ERR_UNREACHABLE && context.peers->peer[other % RANKS]->lost);
        free(slots[i].memory);
    }
}

static struct tern_pml_request *pick(struct fuzz_input *input)
{
    int i = (int)(fuzz_byte(input) % REQUESTS);
    return slots[i].request ? tern_pml_request_of(slots[i].request) : NULL;
}

/* ---- theirs ---- */

/* A request's number, as it was announced; or any. */
static uint64_t name_request(struct fuzz_input *input)
{
    unsigned how = fuzz_byte(input);
    const struct tern_pml_request *request = how & 3 ? pick(input) : NULL;
    return request ? request->number : how & 4 ? fuzz_number(input) : how;
}

static uint64_t any_length(struct fuzz_input *input)
{
    static const uint64_t lengths[] = { 0, 1, 8, 64, 256, 300, 4000, 5000, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX, 1ull << 40 };
    return lengths[fuzz_byte(input) % 12];
}

/* One field after the other: the same input must mean the same for every compiler. */
static struct tern_packet make_packet(struct fuzz_input *input, const struct tern_peer *from)
{
    unsigned kind = 1 + fuzz_byte(input) % 10, how = fuzz_byte(input);
    struct tern_packet packet = { .kind = (uint8_t)kind, .source = (int32_t)from->rank };
    if (how & 1)
        packet.source = (int32_t)fuzz_number(input);
    packet.tag = (int32_t)(fuzz_byte(input) % 4);
    packet.id = (uint32_t)name_request(input);
    packet.context = kind == TERN_PACKET_DATA ? any_length(input) : how & 2 ? other_id : open_id;
    packet.seq = context.recv_seq[from->rank];
    if (!(how & 12))
        packet.seq = (uint16_t)(packet.seq + fuzz_byte(input) % 4);
    return packet;
}

static void packet(struct fuzz_input *input, struct tern_peer *from, bool in_parts)
{
    struct tern_packet packet = make_packet(input, from);
    unsigned kind = packet.kind;
    unsigned char payload[SLOT];
    size_t length = (size_t)any_length(input);
    memset(payload, 0xa5, sizeof payload);
    if (kind == TERN_PACKET_RENDEZVOUS) {
        struct tern_rendezvous rendezvous = { .length = any_length(input) };
        rendezvous.address = fuzz_byte(input);
        rendezvous.id = rendezvous.key = fuzz_byte(input);
        /* behind the first bytes of the message, as shm sends it, or alone */
        size_t head = fuzz_byte(input) % 2 ? (uint64_t)any_length(input) % (SLOT - sizeof rendezvous) : 0;
        memcpy(payload + head, &rendezvous, sizeof rendezvous);
        length = head + sizeof rendezvous;
    } else if (kind > TERN_PACKET_RENDEZVOUS && kind != TERN_PACKET_DATA) {
        struct tern_reply reply = { .id = name_request(input) };
        reply.remote_id = name_request(input);
        reply.length = any_length(input);
        if (kind == TERN_PACKET_CLEAR)
            reply.offset = any_length(input);
        if (kind == TERN_PACKET_CREDIT && reply.length > 1 << 20)
            reply.length = 1 << 20; /* of more than was spent a peer only harms itself */
        memcpy(payload, &reply, length = sizeof reply);
    }
    length = length < sizeof payload ? length : sizeof payload;
    length += kind == TERN_PACKET_DATA && !length;
    void *exact = malloc(length + !length), *owner = NULL;
    if (!exact)
        abort();
    memcpy(exact, payload, length);
    struct tern_cursor place;
    if (in_parts && (kind == TERN_PACKET_EAGER || kind == TERN_PACKET_EAGER_SYNC || kind == TERN_PACKET_DATA) && length)
        owner = tern_pml_place(from, &packet, length, &place);
    if (owner) {
        size_t half = length / 2;
        tern_cursor_unpack(&place, exact, half);
        tern_cursor_unpack(&place, (char *)exact + half, length - half);
        tern_pml_placed(from, &packet, length, owner);
    } else {
        tern_pml_deliver(from, &packet, exact, length);
    }
    free(exact);
}

/* ---- together ---- */

static struct tern_peers *open_all(struct fuzz_input *input)
{
    static bool ready;
    if (!ready && tern_lanes_init())
        abort();
    ready = true;
    tern_pending_init();
    static const struct tern_run all = {.stride = 1, .count = RANKS};
    struct tern_peers *peers = tern_peers_new(RANKS, &all, 1);
    if (!peers)
        abort();
    full = false;
    tern_lanes[0].lost_peers = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct tern_peer *peer = tern_peer_get(0, 0, rank);
        peer->btl = movers[fuzz_byte(input) & 3];
        peer->bulk = peer->btl == &gets ? &gets : NULL;
        peer->limits = (struct tern_limits){ .packet_max = 256, .eager_max = 64, .eager_max_blocking = 64,
                                             .credit_factor = 1 };
        peer->credit = 200 * (int64_t)(fuzz_byte(input) % 8);
        memset(peer->owed, 0, sizeof peer->owed);
        free((char *)peer->lost);
        peer->lost = NULL;
        tern_peer_update(peer);
        peers->peer[rank] = peer;
    }
    if (tern_context_open(&context, open_id, 0, peers, NULL))
        abort();
    return peers;
}

/* What a sane peer says to end it. */
static void answer(struct tern_pml_request *request, struct tern_peer *from, bool sends)
{
    static const char bytes[SLOT];
    struct tern_reply reply = { .id = request->number };
    MUST(tern_number_find(request->number) == request && (sends || (request->expected > 0 && request->expected <= SLOT)));
    if (sends)
        tern_pml_deliver(from, &(struct tern_packet){ .kind = TERN_PACKET_PULLED }, &reply, sizeof reply);
    else
        tern_pml_deliver(from, &(struct tern_packet){ .kind = TERN_PACKET_DATA, .id = request->number }, bytes,
                         (size_t)request->expected);
}

/* Ends whatever is under way, as an orderly end of all would. */
static void close_all(struct tern_peers *peers)
{
    struct tern_context other;
    full = false;
    tern_pending_flush(context.lane);
    for (unsigned how = 0; !tern_list_empty(&transfers); how++)
        end_transfer(how);
    for (int i = 0; i < REQUESTS; i++) {
        if (!slots[i].request)
            continue;
        struct tern_pml_request *request = tern_pml_request_of(slots[i].request);
        if (!slots[i].request->complete && !slots[i].sends)
            slots[i].request->kind->cancel(slots[i].request);
        if (!slots[i].request->complete) /* it waits for the other end, and has a number */
            answer(request, peers->peer[1], slots[i].sends);
        MUST(slots[i].request->complete);
        release(i);
    }
    for (uint64_t i = 1; i < tern_lanes[0].number_count; i++) { /* messages sent from copies */
        struct tern_pml_request *copy = tern_number_find(i << TERN_NUMBER_LANE_BITS);
        if (copy)
            answer(copy, peers->peer[1], true);
    }
    tern_context_close(&context);
    /* what came for it, and then for nobody */
    for (int i = 0; i < 2; i++) {
        if (tern_context_open(&other, i ? other_id : open_id, 0, peers, NULL))
            abort();
        tern_context_close(&other);
    }
    tern_pending_flush(&tern_lanes[0]);
    MUST(registered == 0 && tern_list_empty(&transfers) && tern_pending_empty() && tern_list_empty(&tern_lanes[0].early) && tern_list_empty(&tern_lanes[0].parked));
    tern_peers_release(peers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { data, size };
    struct tern_peers *peers = open_all(&input);
    for (int step = 0; step < STEPS && input.left; step++) {
        unsigned what = fuzz_byte(&input);
        switch (what % 8) {
        case 0:
        case 1:
            begin(&input, what & 1);
            break;
        case 2:
            if (what & 64)
                end_transfer(what >> 3);
            else
                full = !full;
            break;
        case 3: {
            int i = (int)(fuzz_byte(&input) % REQUESTS);
            if (slots[i].request && slots[i].request->complete)
                release(i);
            break;
        }
        case 4: {
            struct tern_pml_request *request = pick(&input);
            if ((what & 192) == 192)
                tern_pml_lost(peers->peer[what / 8 % RANKS], NULL, "the fuzzer has cut the link");
            else if (request && !request->req.complete)
                request->req.kind->cancel(&request->req);
            break;
        }
        default:
            if (!peers->peer[what / 8 % RANKS]->lost)
                packet(&input, peers->peer[what / 8 % RANKS], what & 64);
        }
        if (!full)
            tern_pending_flush(context.lane);
    }
    close_all(peers);
    return 0;
}
