/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/link.h"

#include "lib/btl/tcp/listener.h"
#include "lib/btl/tcp/flusher.h"
#include "lib/btl/tcp/sealed.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    OUT_ROOM = 512 * 1024,    /* bytes of a link's own buffer, at least ... */
    OUT_MOST = 192 * 1024,    /* ... if more than this waits in it, senders must come again */
    SOON_PAYLOAD = 32 * 1024, /* longer payloads are not worth a copy */
    SOON_MOST = 128 * 1024,   /* bytes that are collected for one write */
    SOON_US = 5,              /* this soon after the last write, another will follow */
    HELD_US = 40,             /* nothing is held for longer */
    CLOCK_FOLLOWERS = 8,      /* messages held between two looks at the clock */
    UNHELD_SENDS = 64, /* sends after the flusher had to write, because the rank went to compute */
    /* if one look of the flusher wrote this many bytes, another look pays soon */
    MUCH = 32 * 1024,
    REST_US = 20 * 1000,      /* a buffer unused for this long is freed */
    RUNS = 64,                /* runs of memory in one write */
    /* bytes of a run on average; if they are shorter, the piece is packed */
    RUN_LEAST = 512,
    PACKED_PIECE = 64 * 1024,
    LARGE = 48 * 1024,        /* payloads of this size are better not read into the buffer first */
    /* if the system has no room, senders of longer messages must come again */
    COPY_MOST = 8 * 1024,
    /* bytes of a placed payload per read: what arrives meanwhile must wait until it ends */
    READ_MOST = 128 * 1024,
    TAIL = 4096, /* bytes read beyond a placed payload: the next frames, if they are short */
};
_Static_assert(OUT_ROOM - OUT_MOST >= TERN_TCP_PACKET_MAX + (int)sizeof(struct tern_tcp_frame),
               "any packet fits while senders need not come again");

struct tern_tcp_link *tern_tcp_link_new(int fd, struct tern_tcp_sealed *sealed,
                                        struct tern_process process,
                                        uint8_t tag, uint8_t index)
{
    struct tern_tcp_link *link = calloc(1, sizeof *link);
    if (!link) {
        tern_tcp_sealed_free(sealed);
        tern_error(TERN_ERR_NO_MEM, "no memory for the connection with rank %u", process.rank);
        return NULL;
    }
    link->fd = fd;
    link->sealed = sealed;
    link->process = process;
    link->tag = tag;
    link->index = index;
    pthread_mutex_init(&link->out_lock, NULL);
    int room;
    if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, &(socklen_t){sizeof room}) == 0)
        link->system_room = (size_t)room;
    char ends[TERN_TCP_ENDS];
    tern_tcp_describe_ends(fd, ends);
    link->ends = strdup(ends);
    return link;
}

void tern_tcp_link_free(struct tern_tcp_link *link)
{
    tern_tcp_flusher_forget(link);
    close(link->fd);
    pthread_mutex_destroy(&link->out_lock);
    free(link->out);
    free(link->ends);
    free(link->stash);
    tern_tcp_sealed_free(link->sealed);
    free(link);
}

/* ---- outgoing; the caller holds out_lock ---- */

static bool is_busy(const struct tern_tcp_link *link)
{
    return link->out_begin != link->out_end || link->piece.frame_left || link->piece.left ||
           (TERN_UNLIKELY(link->sealed) && tern_tcp_sealed_holds(link->sealed));
}

/* Makes the buffer at least `size` bytes long. Only a message that was expected to leave at once,
 * and then did not, needs more than OUT_ROOM. Returns false if there is no memory. */
static bool grow_out(struct tern_tcp_link *link, size_t size)
{
    if (link->out && size <= link->out_size)
        return true;
    size = size < OUT_ROOM ? OUT_ROOM : size;
    unsigned char *out = realloc(link->out, size);
    if (!out)
        return false;
    link->out = out;
    link->out_size = (uint32_t)size;
    return true;
}

/* Returns room for `length` more bytes, or NULL if there is no memory. */
static unsigned char *out_room(struct tern_tcp_link *link, size_t length)
{
    if (!grow_out(link, link->out_end - link->out_begin + length))
        return NULL;
    if (link->out_begin == link->out_end)
        link->out_begin = link->out_end = 0;
    if (link->out_end + length > link->out_size) {
        memmove(link->out, link->out + link->out_begin, link->out_end - link->out_begin);
        link->out_end -= link->out_begin;
        link->out_begin = 0;
    }
    unsigned char *room = link->out + link->out_end;
    link->out_end += (uint32_t)length;
    return room;
}

/* Accounts for `n` bytes that were written. */
static void advance(struct tern_tcp_link *link, size_t n)
{
    size_t head = n < link->piece.frame_left ? n : link->piece.frame_left;
    link->piece.frame_left -= (uint32_t)head;
    n -= head;
    size_t body = n < link->piece.left ? n : link->piece.left;
    link->piece.left -= body;
    link->piece.cursor.offset += (int64_t)body;
    link->out_begin += (uint32_t)(n - body);
}

/* Collects the bytes to write next. Returns the number of parts. */
static int gather(struct tern_tcp_link *link, struct iovec *parts)
{
    int count = 0;
    size_t bytes = 0;
    if (link->piece.frame_left)
        parts[count++] = (struct iovec){(char *)(&link->piece.frame + 1) - link->piece.frame_left,
                                        link->piece.frame_left};
    if (link->piece.left) {
        struct tern_cursor cursor = link->piece.cursor;
        count += tern_cursor_runs(&cursor, parts + count, RUNS, link->piece.left, &bytes);
    }
    if (bytes == link->piece.left && link->out_begin != link->out_end)
        parts[count++] =
            (struct iovec){link->out + link->out_begin, link->out_end - link->out_begin};
    return count;
}

static ssize_t write_parts(struct tern_tcp_link *link, struct iovec *parts, int count)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    ssize_t n;
    if (TERN_UNLIKELY(link->sealed))
        n = tern_tcp_sealed_write(link->sealed, link->fd, parts, count);
    else
        do
            n = sendmsg(link->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
    link->blocked = n < 0 && (errno == EAGAIN || errno == ENOBUFS);
    if (n < 0 && !link->blocked)
        link->error = errno;
    link->written_at = tern_ticks();
    return n;
}

/* Writes what it can. Returns true if nothing is left, or if a write failed. */
static bool push(struct tern_tcp_link *link)
{
    while (is_busy(link) && !link->error) {
        struct iovec parts[RUNS + 2];
        ssize_t n = write_parts(link, parts, gather(link, parts));
        if (n < 0)
            return link->error != 0;
        advance(link, (size_t)n);
    }
    return true;
}

/* Notes after a send or a push whether the link holds something. */
static void note_held(struct tern_tcp_link *link)
{
    link->unsent = is_busy(link) && !link->error;
    if (!link->unsent)
        link->held_at = 0;
    else if (!link->held_at)
        link->held_at = tern_ticks();
}

static void need_flush(struct tern_tcp_link *link)
{
    note_held(link);
    if (!link->unsent)
        return;
    link->used = true;
    tern_tcp_flusher_add(link);
}

static int no_memory(const struct tern_tcp_link *link)
{
    return tern_error(TERN_ERR_NO_MEM, "no memory for messages that wait to be sent to rank %u",
                      link->process.rank);
}

static bool too_much(const struct tern_tcp_link *link)
{
    return link->out_end - link->out_begin > OUT_MOST;
}

/* Returns true if a long message should not be copied: it would wait behind others, which costs
 * more than to send it later. */
static bool not_worth_a_copy(const struct tern_tcp_link *link, size_t length)
{
    return length > COPY_MOST && link->blocked && link->out_end != link->out_begin;
}

/* Copies a frame behind the bytes that wait. */
static int append(struct tern_tcp_link *link, const struct tern_tcp_frame *frame,
                  const void *payload, size_t length)
{
    unsigned char *room = out_room(link, sizeof *frame + length);
    if (!room)
        return no_memory(link);
    memcpy(room, frame, sizeof *frame);
    if (length)
        memcpy(room + sizeof *frame, payload, length);
    return 0;
}

/* Writes the waiting bytes, the frame and the payload by one call, and copies what the system has
 * no room for. */
static int write_through(struct tern_tcp_link *link, const struct tern_tcp_frame *frame,
                         const void *payload, size_t length)
{
    size_t waiting = link->out_end - link->out_begin, done = 0;
    if (!link->blocked) {
        struct iovec parts[3] = {{link->out + link->out_begin, waiting},
                                 {(void *)frame, sizeof *frame},
                                 {(void *)payload, length}};
        ssize_t n = write_parts(link, parts + !waiting, 3 - !waiting - !length);
        done = n > 0 ? (size_t)n : 0;
    }
    size_t first = done < waiting ? done : waiting;
    link->out_begin += (uint32_t)first;
    done -= first;
    size_t left = sizeof *frame + length - done;
    if (!left || link->error)
        return 0;
    unsigned char *room = out_room(link, left);
    if (!room) {
        link->error = ENOMEM; /* half a frame has been sent */
        return no_memory(link);
    }
    if (done < sizeof *frame) {
        size_t head = sizeof *frame - done;
        memcpy(room, (const char *)frame + done, head);
        room += head;
        done = sizeof *frame;
    }
    if (length)
        memcpy(room, (const char *)payload + (done - sizeof *frame),
               length - (done - sizeof *frame));
    return 0;
}

/* Returns true if the message may wait, because it is one of many in quick succession. */
static bool may_wait(struct tern_tcp_link *link, size_t length)
{
    if (length > SOON_PAYLOAD || link->out_end - link->out_begin >= SOON_MOST)
        return false;
    if (TERN_UNLIKELY(link->unheld)) {
        link->unheld--;
        return false;
    }
    if (link->held_at) /* reading the clock takes longer than all the rest */
        return ++link->followers % CLOCK_FOLLOWERS ||
               tern_ticks() - link->held_at < tern_ticks_of_us(HELD_US);
    return tern_ticks() - link->written_at < tern_ticks_of_us(SOON_US);
}

static int send_frame(struct tern_tcp_link *link, const struct tern_packet *packet,
                      const void *payload, size_t length, bool batched)
{
    struct tern_tcp_frame frame = tern_tcp_frame_of(packet, length);
    if (TERN_UNLIKELY(link->error))
        return 0; /* the peer will not receive it */
    if (not_worth_a_copy(link, length))
        return TERN_ERR_AGAIN;
    if (too_much(link) && (!push(link) || too_much(link)))
        return TERN_ERR_AGAIN;
    bool credit = batched && packet->kind == TERN_PACKET_CREDIT &&
                  link->out_begin == link->out_end && !link->piece.stream;
    bool wait = credit || (batched && may_wait(link, length));
    int rc = wait || link->piece.stream ? append(link, &frame, payload, length)
                                        : write_through(link, &frame, payload, length);
    if (!wait && !rc && !link->blocked)
        push(link);
    /* a write for credit alone would delay the answer to the message that gave the credit back; and
     * credit is not worth waking the flusher */
    if (credit)
        link->unsent = true;
    else
        need_flush(link);
    return rc;
}

int tern_tcp_link_send(struct tern_tcp_link *link, const struct tern_packet *packet,
                       const void *payload, size_t length, bool batched)
{
    pthread_mutex_lock(&link->out_lock);
    int rc = send_frame(link, packet, payload, length, batched);
    pthread_mutex_unlock(&link->out_lock);
    return rc;
}

bool tern_tcp_link_has_room(struct tern_tcp_link *link, size_t length)
{
    int unheard = 0;
    pthread_mutex_lock(&link->out_lock);
    bool ready = !link->sealed && !link->blocked && !link->piece.stream;
    size_t bytes = length + link->out_end - link->out_begin;
    pthread_mutex_unlock(&link->out_lock);
    /* the system counts more than the bytes: less than a sixteenth where segments are long */
    bytes += bytes / 16;
    return ready && bytes <= link->system_room && ioctl(link->fd, SIOCOUTQ, &unheard) == 0 &&
           (size_t)unheard <= link->system_room - bytes;
}

static int send_packed(struct tern_tcp_link *link, const struct tern_packet *packet,
                       struct tern_cursor *cursor, size_t length)
{
    struct tern_tcp_frame frame = tern_tcp_frame_of(packet, length);
    if (TERN_UNLIKELY(link->error)) {
        cursor->offset += (int64_t)length;
        return 0;
    }
    if (too_much(link) && (!push(link) || too_much(link)))
        return TERN_ERR_AGAIN;
    unsigned char *room = out_room(link, sizeof frame + length);
    if (!room)
        return no_memory(link);
    memcpy(room, &frame, sizeof frame);
    tern_cursor_pack(cursor, room + sizeof frame, length);
    if (!link->blocked)
        push(link);
    need_flush(link);
    return 0;
}

int tern_tcp_link_send_cursor(struct tern_tcp_link *link, const struct tern_packet *packet,
                              struct tern_cursor *cursor, size_t length)
{
    pthread_mutex_lock(&link->out_lock);
    int rc = send_packed(link, packet, cursor, length);
    pthread_mutex_unlock(&link->out_lock);
    return rc;
}

static bool is_scattered(const struct tern_cursor *cursor, size_t length)
{
    struct tern_cursor copy = *cursor;
    struct iovec runs[RUNS];
    size_t bytes;
    if (cursor->memory) /* the system's calls cannot read device memory */
        return true;
    int count = tern_cursor_runs(&copy, runs, RUNS, length, &bytes);
    return bytes < length && bytes < (size_t)count * RUN_LEAST;
}

void tern_tcp_link_begin_piece(struct tern_tcp_link *link, struct tern_stream *stream, size_t most)
{
    size_t left = (size_t)(stream->cursor.length - stream->cursor.offset);
    size_t length = left < most ? left : most;
    struct tern_packet packet = stream->packet;
    packet.context = (uint64_t)stream->cursor.offset;
    stream->in_flight++;
    pthread_mutex_lock(&link->out_lock);
    link->piece.stream = stream;
    link->piece.cursor = stream->cursor;
    if (is_scattered(&stream->cursor, length)) {
        length = length < PACKED_PIECE ? length : PACKED_PIECE;
        /* device memory goes no other way: without room the piece is empty, and the next one tries
         * again */
        if (send_packed(link, &packet, &stream->cursor, length) == 0 || stream->cursor.memory) {
            link->piece.frame_left = 0;
            link->piece.left = 0;
            pthread_mutex_unlock(&link->out_lock);
            return;
        }
        /* no memory for a packed copy: send the runs as they are */
    }
    link->piece.frame = tern_tcp_frame_of(&packet, length);
    link->piece.frame_left = sizeof link->piece.frame;
    link->piece.left = length;
    stream->cursor.offset += (int64_t)length;
    pthread_mutex_unlock(&link->out_lock);
}

bool tern_tcp_link_push(struct tern_tcp_link *link)
{
    pthread_mutex_lock(&link->out_lock);
    bool done = push(link);
    note_held(link);
    pthread_mutex_unlock(&link->out_lock);
    return done;
}

struct tern_stream *tern_tcp_link_take_piece(struct tern_tcp_link *link)
{
    pthread_mutex_lock(&link->out_lock);
    bool gone = !link->piece.frame_left && !link->piece.left;
    struct tern_stream *stream = gone ? link->piece.stream : NULL;
    if (stream)
        link->piece.stream = NULL;
    pthread_mutex_unlock(&link->out_lock);
    return stream;
}

static size_t held_bytes(const struct tern_tcp_link *link)
{
    return link->out_end - link->out_begin + link->piece.frame_left + link->piece.left;
}

/* Frees the buffer of a link at rest, unless it holds credit, which may wait for the next send
 * however long that takes. */
static void rest(struct tern_tcp_link *link)
{
    if (link->out_begin != link->out_end)
        return;
    free(link->out);
    link->out = NULL;
    link->out_begin = link->out_end = 0;
}

enum tern_tcp_look tern_tcp_link_look(struct tern_tcp_link *link, bool attended,
                                      unsigned elapsed_us)
{
    bool late = link->held_at && tern_ticks() - link->held_at >= tern_ticks_of_us(HELD_US),
         blocked = link->blocked;
    link->unused_us = link->used || link->held_at ? 0 : link->unused_us + elapsed_us;
    link->used = false;
    if (link->error || link->unused_us >= REST_US) {
        rest(link);
        return TERN_TCP_AT_REST;
    }
    if (!late || (blocked && attended))
        return TERN_TCP_IN_USE;
    size_t before = held_bytes(link);
    push(link);
    if (!is_busy(link))
        link->held_at = 0;
    if (!blocked) /* the rank went to compute and left it here, so holding did not pay */
        link->unheld = UNHELD_SENDS;
    return blocked && before - held_bytes(link) >= MUCH ? TERN_TCP_DRAINS : TERN_TCP_IN_USE;
}

/* ---- incoming ---- */

void *tern_tcp_link_owner(const struct tern_tcp_link *link)
{
    return link->head.packet.kind == TERN_PACKET_DATA ? NULL : link->owner;
}

/* Delivers the frame that was begun; its whole payload is there. */
static void deliver_head(struct tern_tcp_link *link)
{
    struct tern_tcp_frame head = link->head;
    void *owner = link->owner;
    if (owner) {
        link->head_length = 0;
        link->owner = NULL;
        tern_btl_placed(link->peer, &head.packet, head.length, owner);
        return;
    }
    unsigned char *payload = link->stash;
    link->stash = NULL;
    link->head_length = 0;
    tern_btl_deliver(link->peer, &head.packet, payload, head.length);
    free(payload);
}

/* Finds a place for the payload of a frame whose header has arrived and whose payload has not, as a
 * whole. Returns false if there is no memory. */
static bool begin_payload(struct tern_tcp_link *link)
{
    link->left = link->head.length;
    link->owner = tern_btl_place(link->peer, &link->head.packet, link->left, &link->place);
    if (!link->owner)
        link->stash = malloc(link->left);
    if (link->owner || link->stash)
        return true;
    errno = ENOMEM;
    return false;
}

/* Takes bytes of the payload that was begun, from a buffer. Returns how many. */
static size_t take_payload(struct tern_tcp_link *link, const unsigned char *bytes, size_t length)
{
    size_t n = length < link->left ? length : link->left;
    if (link->owner)
        tern_cursor_unpack(&link->place, bytes, n);
    else
        memcpy(link->stash + (link->head.length - link->left), bytes, n);
    link->left -= n;
    return n;
}

static bool out_of_step(const struct tern_tcp_link *link)
{
    tern_log(
        "the data received from rank %u are not a packet (kind %u, %u bytes): one of the two "
        "processes, or the network, has damaged them",
        link->process.rank, link->head.packet.kind, link->head.length);
    errno = EBADMSG;
    return false;
}

/* Delivers a frame that lies in the buffer as a whole. */
static inline void deliver_frame(struct tern_tcp_link *link, const unsigned char *payload)
{
    struct tern_tcp_frame head = link->head;
    link->head_length = 0;
    if (TERN_LIKELY(head.packet.kind != TERN_TCP_BYE))
        tern_btl_deliver(link->peer, &head.packet, payload, head.length);
}

/* Takes received bytes. Returns the number of packets delivered, or -1 with errno. */
static int take_bytes(struct tern_tcp_link *link, const unsigned char *at, size_t length)
{
    int count = 0;
    while (length) {
        if (link->owner || link->stash) {
            size_t n = take_payload(link, at, length);
            at += n;
            length -= n;
            if (link->left)
                break;
            deliver_head(link);
            count++;
            continue;
        }
        size_t n = sizeof link->head - link->head_length;
        n = n < length ? n : length;
        memcpy((char *)&link->head + link->head_length, at, n);
        link->head_length += (uint32_t)n;
        at += n;
        length -= n;
        if (link->head_length < sizeof link->head)
            break;
        if (TERN_UNLIKELY(!tern_tcp_frame_sane(&link->head))) {
            out_of_step(link);
            return -1;
        }
        link->said_bye = link->head.packet.kind == TERN_TCP_BYE;
        link->large =
            link->head.length >= LARGE || link->head.packet.kind == TERN_PACKET_RENDEZVOUS;
        if (TERN_LIKELY(link->head.length <= length)) {
            uint32_t payload = link->head.length;
            deliver_frame(link, at);
            at += payload;
            length -= payload;
            count++;
        } else if (!begin_payload(link)) {
            return -1;
        }
    }
    return count;
}

/* Sets the places for the next bytes: first the rest of a payload. *ret_own is how many bytes that
 * is. */
static int scatter(struct tern_tcp_link *link, unsigned char *room, struct iovec *parts,
                   size_t *ret_own)
{
    int count = 0;
    size_t bytes = link->left;
    if (link->owner) {
        struct tern_cursor cursor = link->place;
        count = tern_cursor_runs(&cursor, parts, RUNS,
                                 link->left < READ_MOST ? link->left : READ_MOST, &bytes);
        if (!count) { /* the sender has sent more than the receive has room for */
            bytes = link->left < TERN_TCP_ROOM - TAIL ? link->left : TERN_TCP_ROOM - TAIL;
            parts[count++] = (struct iovec){room + TAIL, bytes};
        }
    } else {
        parts[count++] = (struct iovec){link->stash + (link->head.length - link->left), link->left};
    }
    *ret_own = bytes;
    if (bytes == link->left)
        parts[count++] = (struct iovec){room, TAIL};
    return count;
}

/* Reads the rest of a payload straight to its destination, without a copy. */
static int receive_rest(struct tern_tcp_link *link, unsigned char *room)
{
    struct iovec parts[RUNS + 1];
    size_t own;
    struct msghdr message = {.msg_iov = parts};
    message.msg_iovlen = (size_t)scatter(link, room, parts, &own);
    ssize_t n = recvmsg(link->fd, &message, MSG_DONTWAIT);
    if (n <= 0)
        return (int)n;
    size_t taken = (size_t)n < own ? (size_t)n : own;
    link->left -= taken;
    if (link->owner && link->place.offset < link->place.length)
        link->place.offset += (int64_t)taken;
    if (link->left)
        return 1;
    deliver_head(link);
    int more = take_bytes(link, room, (size_t)n - taken);
    return more < 0 ? -1 : more + 1;
}

/* Judges a read that gave nothing. Returns 0 if more may arrive, or -1 with errno; errno 0: the
 * other end has closed. */
static int heed_nothing(ssize_t n)
{
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    errno = n == 0 ? 0 : errno;
    return -1;
}

/* Reads an encrypted link. Needs one copy more: unproved bytes must not reach the user's memory. */
static int receive_sealed(struct tern_tcp_link *link)
{
    ssize_t n = tern_tcp_sealed_fill(link->sealed, link->fd);
    const unsigned char *bytes;
    size_t length;
    int more, count = 1;
    if (n <= 0)
        return heed_nothing(n);
    while ((more = tern_tcp_sealed_next(link->sealed, &bytes, &length)) > 0) {
        int taken = take_bytes(link, bytes, length);
        if (taken < 0)
            return -1;
        count += taken;
    }
    return more < 0 ? -1 : count;
}

int tern_tcp_link_receive(struct tern_tcp_link *link, unsigned char *room)
{
    errno = 0;
    if (TERN_UNLIKELY(link->sealed))
        return receive_sealed(link);
    if (link->left && (link->owner || link->stash) &&
        !(link->owner && is_scattered(&link->place, link->left))) {
        int count = receive_rest(link, room);
        return count > 0 ? count : heed_nothing(count);
    }
    ssize_t n = recv(link->fd, room, link->large ? TAIL : TERN_TCP_ROOM, MSG_DONTWAIT);
    if (TERN_UNLIKELY(n <= 0))
        return heed_nothing(n);
    int count = take_bytes(link, room, (size_t)n);
    /* + 1: bytes are an event even if no packet is complete yet */
    return count < 0 ? -1 : count + 1;
}
