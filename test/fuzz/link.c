/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiving half of a TCP link. Either the input is what comes, byte for byte: whatever it is, nothing is delivered but
 * what a sane peer may send. Or it describes frames: they are written in pieces of all sizes, and must be delivered as they
 * were sent, in order, up to the first that is damaged, be it as a whole, into the place that its receive offers, or into a
 * place that is too short. Either may come by an encrypted link; then one changed bit, whatever it belongs to, is the end.
 */
#include "fuzz.h"

#include "lib/btl/btl.h"
#include "lib/btl/tcp/link.h"
#include "lib/btl/tcp/sealed.h"
#include "lib/type/type.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FRAMES = 24, MOST = 300 * 1024, PLACE_ROOM = 512 * 1024 };

static struct {
    struct tern_tcp_frame frames[FRAMES]; /* that are to come */
    int sent, delivered;
    bool known; /* or anything may */
    unsigned sum;
    char *place;
    size_t place_room;
    struct tern_tcp_sealed *other; /* the other end of an encrypted link; NULL: it is not */
} at;

/* The payload of frame `number`. */
static unsigned char pattern(int number, size_t offset)
{
    return (unsigned char)(number * 131 + offset * 7 + (offset >> 8));
}

static void check_sane(const struct tern_packet *packet, size_t length)
{
    struct tern_tcp_frame frame = tern_tcp_frame_of(packet, length);
    MUST(packet->kind != TERN_TCP_BYE && tern_tcp_frame_sane(&frame));
}

/* The next of the frames that are said to come; those that are the link's own are not delivered. */
static int expected(const struct tern_packet *packet, size_t length)
{
    while (at.known && at.delivered < at.sent && at.frames[at.delivered].packet.kind == TERN_TCP_BYE)
        at.delivered++;
    if (at.known) {
        MUST(at.delivered < at.sent);
        MUST(memcmp(&at.frames[at.delivered].packet, packet, sizeof *packet) == 0);
        MUST(at.frames[at.delivered].length == length);
    }
    return at.delivered++;
}

static bool deliver(struct tern_peer *from, const struct tern_packet *packet, const void *payload, size_t length)
{
    const unsigned char *bytes = payload;
    (void)from;
    check_sane(packet, length);
    int number = expected(packet, length);
    for (size_t i = 0; i < length; i++) {
        MUST(!at.known || bytes[i] == pattern(number, i));
        at.sum += bytes[i];
    }
    return true;
}

/* The tag decides whether a receive waits, and how much room it has. */
static void *place(struct tern_peer *from, const struct tern_packet *packet, size_t length, struct tern_cursor *ret_to)
{
    (void)from;
    if (!(packet->tag & 1) || length > PLACE_ROOM || packet->kind > TERN_PACKET_DATA)
        return NULL;
    at.place_room = packet->tag & 2 ? length / 3 : length;
    at.place = malloc(at.place_room ? at.place_room : 1);
    if (!at.place)
        abort();
    tern_cursor_init_host(ret_to, &tern_type_bytes, at.place, (int64_t)at.place_room);
    return at.place;
}

static void placed(struct tern_peer *from, const struct tern_packet *packet, size_t length, void *owner)
{
    (void)from;
    check_sane(packet, length);
    MUST(owner == at.place);
    int number = expected(packet, length);
    for (size_t i = 0; i < at.place_room && at.known; i++)
        MUST((unsigned char)at.place[i] == pattern(number, i));
    free(at.place);
    at.place = NULL;
}

/* In place of lib/btl/btl.c, and of all that stands behind it. */
bool (*tern_btl_deliver)(struct tern_peer *, const struct tern_packet *, const void *, size_t) = deliver;
void *(*tern_btl_place)(struct tern_peer *, const struct tern_packet *, size_t, struct tern_cursor *) = place;
void (*tern_btl_placed)(struct tern_peer *, const struct tern_packet *, size_t, void *) = placed;

/* 0, or -1: the link is broken. */
static int receive_all(struct tern_tcp_link *link)
{
    static unsigned char *room;
    int count;
    if (!room && !(room = malloc(TERN_TCP_ROOM)))
        abort();
    while ((count = tern_tcp_link_receive(link, room)) > 0)
        ;
    return count;
}

/* Writes in pieces, and lets the link read after each. */
static int pass(struct tern_tcp_link *link, int fd, const unsigned char *bytes, size_t size, unsigned step)
{
    int state = 0;
    for (size_t sent = 0; sent < size && state == 0;) {
        size_t piece = step & 128 ? (size_t)(step & 127) * 997 + 1 : (step & 127) + 1, left = size - sent;
        ssize_t n = send(fd, bytes + sent, piece < left ? piece : left, MSG_DONTWAIT | MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        state = receive_all(link);
        step = (step * 5 + 1) & 255;
    }
    return state;
}

/* What goes by the socket when the other end sends these bytes; malloc'ed in their place. */
static void encrypt(unsigned char **bytes, size_t *size)
{
    unsigned char *record = malloc(*size + (*size / TERN_RECORD_MOST + 1) * TERN_RECORD_EXTRA);
    size_t said = 0, made = 0;
    int ends[2];
    if (!record || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        abort();
    while (said < *size || tern_tcp_sealed_holds(at.other)) {
        size_t left = *size - said;
        struct iovec parts[] = { { *bytes + said, left / 2 }, { *bytes + said + left / 2, left - left / 2 } };
        ssize_t n = tern_tcp_sealed_write(at.other, ends[0], parts, 2);
        MUST(n >= 0 || errno == EAGAIN);
        said += n > 0 ? (size_t)n : 0;
        for (ssize_t got; (got = recv(ends[1], record + made, 1 << 20, MSG_DONTWAIT)) > 0;)
            made += (size_t)got;
    }
    MUST(said == *size && made > said);
    close(ends[0]);
    close(ends[1]);
    free(*bytes);
    *bytes = record;
    *size = made;
}

/* One frame as the input says. False: it is damaged, and nothing may come of it and of what follows. */
static bool make_frame(struct fuzz_input *input, unsigned char **ret_bytes, size_t *ret_size)
{
    static const uint32_t lengths[] = { 0, 1, 17, 24, 32, 2000, 4096, 48 * 1024, 64 * 1024, MOST };
    unsigned how = fuzz_byte(input);
    struct tern_packet packet = { .kind = (uint8_t)fuzz_byte(input),
                                  .seq = (uint16_t)fuzz_byte(input),
                                  .source = (int32_t)fuzz_number(input),
                                  .tag = (int32_t)fuzz_byte(input),
                                  .context = fuzz_number(input) };
    uint32_t length = how & 15 ? lengths[(how & 15) % 10] + (how & 16) : fuzz_number(input) % MOST;
    if (how & 32) { /* as its kind wants it */
        packet.kind = packet.kind % 11 ? packet.kind % 11 : TERN_TCP_BYE;
        length = packet.kind == TERN_TCP_BYE             ? 0
                 : packet.kind == TERN_PACKET_RENDEZVOUS ? sizeof(struct tern_rendezvous)
                 : packet.kind > TERN_PACKET_RENDEZVOUS && packet.kind != TERN_PACKET_DATA
                     ? sizeof(struct tern_reply)
                     : length;
    }
    struct tern_tcp_frame frame = tern_tcp_frame_of(&packet, length);
    if (how & 64 && how & 128)
        frame.check ^= 1u << (how & 31);
    unsigned char *bytes = malloc(sizeof frame + length);
    if (!bytes)
        abort();
    memcpy(bytes, &frame, sizeof frame);
    for (size_t i = 0; i < length; i++)
        bytes[sizeof frame + i] = pattern(at.sent, i);
    at.frames[at.sent] = frame;
    *ret_bytes = bytes;
    *ret_size = sizeof frame + length;
    return tern_tcp_frame_sane(&frame);
}

static void frames(struct fuzz_input *input, struct tern_tcp_link *link, int fd)
{
    unsigned step = fuzz_byte(input);
    int state = 0;
    while (input->left && at.sent < FRAMES && state == 0) {
        unsigned char *bytes;
        size_t size;
        bool sane = make_frame(input, &bytes, &size);
        unsigned damage = at.other ? fuzz_byte(input) : 0;
        if (at.other)
            encrypt(&bytes, &size);
        if (damage & 128) {
            bytes[fuzz_number(input) % size] ^= (unsigned char)(1 << (damage & 7));
            sane = false;
        }
        at.sent += sane;
        state = pass(link, fd, bytes, size, step);
        free(bytes);
        MUST(state == (sane ? 0 : -1));
        for (int i = at.delivered; i < at.sent; i++)
            MUST(at.frames[i].packet.kind == TERN_TCP_BYE);
        MUST(!sane || link->said_bye == (at.frames[at.sent - 1].packet.kind == TERN_TCP_BYE));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { data, size };
    int ends[2];
    memset(&at, 0, sizeof at);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        abort();
    static const unsigned char secret[TERN_SECRET_BYTES] = { 1 };
    static const struct tern_hello hello;
    static const struct tern_answer answer;
    unsigned how = fuzz_byte(&input);
    struct tern_tcp_sealed *own = NULL;
    at.known = how & 1;
    if (how & 2 && (!(own = tern_tcp_sealed_new(false, &hello, &answer, secret)) ||
                    !(at.other = tern_tcp_sealed_new(true, &hello, &answer, secret))))
        abort();
    struct tern_tcp_link *link = tern_tcp_link_new(ends[1], own, (struct tern_process){0, 1}, 0, 0);
    if (at.known) {
        frames(&input, link, ends[0]);
    } else {
        unsigned step = fuzz_byte(&input);
        unsigned char *bytes = fuzz_rest(&input, &size);
        int state = pass(link, ends[0], bytes, size, step);
        MUST(!own || size < TERN_RECORD_HEAD || state == -1);
        free(bytes);
    }
    close(ends[0]);
    receive_all(link);
    free(at.place); /* of a payload that was cut off */
    tern_tcp_link_free(link);
    tern_tcp_sealed_free(at.other);
    return 0;
}
