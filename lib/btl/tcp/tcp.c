/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The byte mover for ranks on other hosts, and for ranks that no faster byte mover reaches.
 *
 * Connections are made on first use; until then sends return TERN_ERR_AGAIN. A lane's data about a
 * peer is its endpoint: the links by which it sends. All but large messages use the first link.
 * Large messages are streams, cut into pieces that every link with room takes in turn. Each piece
 * goes straight from the user's memory and, if the receive is posted, straight into the receiver's
 * memory. How links come and go: lane_links.c.
 */

#include "lib/btl/btl.h"
#include "lib/btl/choice.h"
#include "lib/node/segment.h"
#include "lib/btl/peer.h"
#include "lib/btl/tcp/arrivals.h"
#include "lib/btl/tcp/clock.h"
#include "lib/btl/tcp/dial.h"
#include "lib/btl/tcp/flusher.h"
#include "lib/btl/tcp/lane_links.h"
#include "lib/btl/tcp/connecting.h"
#include "lib/btl/tcp/listener.h"
#include "lib/btl/unheard.h"
#include "lib/rte/jobs.h"
#include "lib/rte/rte.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/error.h"
#include "lib/util/base/handle.h"
#include "lib/util/base/log.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    EAGER_MAX = 64 * 1024,
    CREDIT_FACTOR = 8,
    PIECE_ALONE = 1 << 20,    /* bytes of a piece if a stream has one link ... */
    PIECE_SHARED = 256 << 10, /* ... or several */
    /* up to this many links are all read, without asking the epoll which one has data ... */
    POLL_EACH = 2,
    MUTE_AFTER = 8, /* ... and are muted after this many rounds in which data arrived */
    EVENTS = 32,
    LISTENER_US = 20, /* microseconds between two looks at the listener */
    IDLE_POLLS = 64,    /* beside shm: polls without success, after which ... */
    IDLE_SKIPS = 8,     /* ... this many polls are skipped */
};

extern const struct tern_btl tern_btl_shm;

static bool beside_shm;

/* ---- sending ---- */

static bool tcp_reaches(uint32_t job, uint32_t rank)
{
    return job ? tern_introduction_of(job, rank) != NULL : rank != tern_rte.rank;
}

static int tcp_connect(struct tern_peer *peer)
{
    peer->endpoint = tern_tcp_endpoint_of(peer);
    if (!peer->endpoint)
        return tern_error(TERN_ERR_NO_MEM, "no memory to connect to rank %u", peer->rank);
    peer->limits = (struct tern_limits){.packet_max = TERN_TCP_PACKET_MAX,
                                        .eager_max = EAGER_MAX,
                                        .eager_max_blocking = TERN_TCP_EAGER_MOST,
                                        .credit_factor = CREDIT_FACTOR};
    return 0;
}

static int not_connected(struct tern_peer *peer)
{
    if (peer->lost)
        return tern_error(TERN_ERR_UNREACHABLE, "%s", peer->lost);
    int rc = tern_tcp_connecting_start((struct tern_process){peer->job, peer->rank},
                                     (uint8_t)peer->lane);
    return rc ? rc : TERN_ERR_AGAIN;
}

/* Notes after a send whether the link holds something. A failed write does not end the link yet:
 * the peer's last bytes may be its goodbye, which only a receive finds. */
static inline int see(struct tern_peer *peer, struct tern_tcp_link *link, int rc)
{
    if (link->unsent)
        tern_tcp_lanes[peer->lane].unsent = true;
    return rc;
}

/* Returns the link by which packets go to the peer, or NULL if there is none yet. */
static inline struct tern_tcp_link *first_link(const struct tern_peer *peer)
{
    return ((struct tern_tcp_endpoint *)peer->endpoint)->links[0];
}

/* Returns true if a long message shall go eagerly: a stream would use no other link, the receiver
 * has promised the memory, and the system takes the whole message at once. An announcement would
 * then only cost time. A message that waits behind others is announced, because it would have to be
 * copied. */
static bool takes_at_once(const struct tern_peer *peer, struct tern_tcp_link *link, size_t length)
{
    const struct tern_tcp_endpoint *endpoint = peer->endpoint;
    return endpoint->link_count == 1 && peer->credit >= (int64_t)length &&
           tern_tcp_link_has_room(link, length);
}

static int tcp_send(struct tern_peer *peer, const struct tern_packet *packet, const void *payload,
                    size_t length)
{
    struct tern_tcp_link *link = first_link(peer);
    if (TERN_UNLIKELY(!link))
        return not_connected(peer);
    if (TERN_UNLIKELY(length > TERN_TCP_PACKET_MAX) && !takes_at_once(peer, link, length))
        return TERN_ERR_AGAIN;
    return see(peer, link, tern_tcp_link_send(link, packet, payload, length, false));
}

static int tcp_send_batched(struct tern_peer *peer, const struct tern_packet *packet,
                         const void *payload, size_t length)
{
    struct tern_tcp_link *link = first_link(peer);
    if (TERN_UNLIKELY(!link))
        return not_connected(peer);
    /* If two sends follow each other without a round of progress in between, it pays to hold the
     * second: progress would have written the first. */
    uint32_t round = tern_tcp_lanes[peer->lane].rounds;
    bool batched = link->sent_round == round || packet->kind == TERN_PACKET_CREDIT;
    link->sent_round = round;
    return see(peer, link, tern_tcp_link_send(link, packet, payload, length, batched));
}

static int tcp_send_cursor(struct tern_peer *peer, const struct tern_packet *packet,
                           struct tern_cursor *cursor, size_t length)
{
    struct tern_tcp_link *link = first_link(peer);
    if (TERN_UNLIKELY(!link))
        return not_connected(peer);
    return see(peer, link, tern_tcp_link_send_cursor(link, packet, cursor, length));
}

/* ---- streams ---- */

static struct tern_stream *first_stream(struct tern_tcp_endpoint *endpoint)
{
    if (tern_list_empty(&endpoint->streams))
        return NULL;
    return TERN_CONTAINER(endpoint->streams.next, struct tern_stream, link);
}

static void begin_piece(struct tern_tcp_endpoint *endpoint, struct tern_tcp_link *link,
                        struct tern_stream *stream)
{
    tern_tcp_link_begin_piece(link, stream, endpoint->link_count > 1 ? PIECE_SHARED : PIECE_ALONE);
    if (stream->cursor.offset == stream->cursor.length) {
        tern_list_remove(&stream->link);
        tern_list_init(&stream->link);
    }
}

/* Finishes a piece that was written. The last piece of a stream completes the stream. */
static bool finish_piece(struct tern_tcp_link *link)
{
    struct tern_stream *stream = tern_tcp_link_take_piece(link);
    if (!stream)
        return false;
    stream->in_flight--;
    if (stream->in_flight == 0 && stream->cursor.offset == stream->cursor.length)
        stream->done(stream);
    return true;
}

/* Writes what a link holds, and begins pieces as long as there is room. Returns the number of
 * pieces written. */
static int feed(struct tern_tcp_lane *lane, struct tern_tcp_endpoint *endpoint,
                struct tern_tcp_link *link)
{
    int count = 0;
    for (;;) {
        bool gone = tern_tcp_link_push(link);
        if (TERN_UNLIKELY(link->error))
            return count;
        count += finish_piece(link);
        struct tern_stream *stream = endpoint ? first_stream(endpoint) : NULL;
        if (!gone || !stream || link->piece.stream) {
            tern_tcp_lane_watch_room(lane, link, !gone);
            return count;
        }
        begin_piece(endpoint, link, stream);
    }
}

static int feed_all(struct tern_tcp_lane *lane, struct tern_tcp_endpoint *endpoint)
{
    int count = 0;
    for (int i = 0; i < endpoint->link_count; i++)
        if (endpoint->links[i])
            count += feed(lane, endpoint, endpoint->links[i]);
    return count;
}

/* Starts a stream. The answer that begins it came by a link of this peer, so there is a link. */
static void tcp_stream(struct tern_peer *peer, struct tern_stream *stream)
{
    struct tern_tcp_endpoint *endpoint = peer->endpoint;
    struct tern_tcp_lane *lane = &tern_tcp_lanes[peer->lane];
    stream->in_flight = 0;
    if (stream->cursor.length == 0) {
        stream->done(stream);
        return;
    }
    bool first = tern_list_empty(&endpoint->streams);
    tern_list_append(&endpoint->streams, &stream->link);
    if (first && endpoint->link_count)
        feed_all(lane, endpoint);
    else if (first && !endpoint->links[0])
        (void)not_connected(peer);
    lane->unsent = true;
}

/* Writes what the links hold, and begins pieces on those with room. Leaves links without room alone
 * until epoll reports room: each attempt takes the connection's lock in the system, which
 * acknowledgements need, too. */
static int write_all(struct tern_tcp_lane *lane)
{
    int count = 0;
    lane->unsent = false;
    for (struct tern_list_node *at = lane->links.next, *next; at != &lane->links; at = next) {
        next = at->next;
        struct tern_tcp_link *link = tern_tcp_link_at(at);
        struct tern_tcp_endpoint *endpoint = link->endpoint;
        bool streams = endpoint && first_stream(endpoint);
        if (!link->watching_room && (streams || link->piece.stream || link->unsent))
            count += feed(lane, endpoint, link);
    }
    return count;
}

/* ---- receiving ---- */

/* Returns true if a message of ours depends on the link. */
static bool is_needed(const struct tern_tcp_link *link)
{
    return link->piece.stream ||
           (link->index == 0 && link->endpoint && first_stream(link->endpoint));
}

/* Handles the end of a link, with errno; 0: its other end has closed it. */
static void end_link(struct tern_tcp_lane *lane, struct tern_tcp_link *link, int error)
{
    if (!link->said_bye || is_needed(link))
        tern_tcp_lane_begin_losing(lane, link, link->said_bye ? ESHUTDOWN : error);
    else
        tern_tcp_lane_drop(lane, link);
}

static int receive(struct tern_tcp_lane *lane, struct tern_tcp_link *link)
{
    int count = tern_tcp_link_receive(link, lane->room);
    if (TERN_UNLIKELY(count < 0)) {
        end_link(lane, link, errno ? errno : link->error);
        return 1;
    }
    if (count > 0)
        lane->latest = link;
    return count;
}

static int receive_few(struct tern_tcp_lane *lane)
{
    int count = 0;
    for (struct tern_list_node *at = lane->links.next, *next; at != &lane->links; at = next) {
        next = at->next;
        count += receive(lane, tern_tcp_link_at(at));
    }
    return count;
}

static int receive_ready(struct tern_tcp_lane *lane)
{
    struct epoll_event events[EVENTS];
    int count = 0, n = epoll_wait(lane->epoll, events, EVENTS, 0);
    for (int i = 0; i < n; i++) {
        struct tern_tcp_link *link = events[i].data.ptr;
        if (events[i].events & EPOLLOUT)
            count += feed(lane, link->endpoint, link);
        if (events[i].events & ~(unsigned)EPOLLOUT)
            /* each link is in the list once, so it may be freed here */
            count += receive(lane, link);
    }
    return count;
}

static int receive_all(struct tern_tcp_lane *lane)
{
    bool each = lane->muted || (lane->link_count <= POLL_EACH && !lane->watching_room);
    int count = each ? receive_few(lane) : lane->latest ? receive(lane, lane->latest) : 0;
    if (each && count && ++lane->received == MUTE_AFTER &&
        !tern_threads) /* otherwise another thread may sleep */
        tern_tcp_lane_mute(lane, true);
    return count || (each && !lane->watching_room) ? count : receive_ready(lane);
}

/* Keeps in *worst what the longest silence of a link holds up. */
static void compare_silence(const struct tern_tcp_link *link, uint64_t now,
                            struct tern_unheard *worst)
{
    uint64_t since_ms = now - link->silence.silent_ms;
    if (link->silence.unheard && (!worst->bytes || since_ms < worst->since_ms))
        *worst = (struct tern_unheard){link->process, link->silence.unheard, since_ms};
}

/* Ends the links whose hosts have failed or can no longer be reached. Every waiting rank comes
 * here: a sleeping one wakes for a round ten times a second. Returns the number of links that have
 * ended. */
static int heed_silence(struct tern_tcp_lane *lane)
{
    uint64_t now = tern_tcp_now_ms(), elapsed = now - lane->looked_ms;
    struct tern_unheard worst = {0};
    int count = 0;
    if (elapsed < tern_tcp_silence_period_ms())
        return 0;
    lane->looked_ms = now;
    for (struct tern_list_node *at = lane->links.next, *next; at != &lane->links; at = next) {
        next = at->next;
        struct tern_tcp_link *link = tern_tcp_link_at(at);
        if (tern_tcp_silence_look(&link->silence, link->fd, elapsed)) {
            end_link(lane, link, ETIMEDOUT);
            count++;
        } else {
            compare_silence(link, now, &worst);
        }
    }
    tern_btl_note_unheard((uint32_t)(lane - tern_tcp_lanes), &worst);
    return count;
}

/* Returns true if this poll is skipped: beside shm each look here delays ranks that wait for
 * shm. */
static bool sit_out(struct tern_tcp_lane *lane)
{
    if (lane->idle < IDLE_POLLS)
        return false;
    if (lane->skips++ < IDLE_SKIPS)
        return true;
    lane->skips = 0;
    return false;
}

static int tcp_progress(uint32_t index)
{
    struct tern_tcp_lane *lane = &tern_tcp_lanes[index];
    int count = 0;
    lane->rounds++;
    if (TERN_UNLIKELY(lane->unsent))
        count += write_all(lane);
    if (beside_shm && sit_out(lane))
        return count;
    uint64_t now = tern_ticks();
    if (now - lane->door_at > tern_ticks_of_us(LISTENER_US)) {
        __atomic_store_n(&lane->door_at, now, __ATOMIC_RELAXED); /* atomic: the flusher reads it */
        count += tern_tcp_connecting_progress() + heed_silence(lane);
        if (TERN_UNLIKELY(!tern_list_empty(&lane->losing)))
            count += tern_tcp_lane_heed_losing(lane);
    }
    if (TERN_UNLIKELY(__atomic_load_n(&tern_tcp_arrivals[index].any, __ATOMIC_RELAXED)))
        count += tern_tcp_lane_take_arrivals(lane);
    if (lane->link_count)
        count += receive_all(lane);
    lane->idle = count ? 0 : lane->idle + 1;
    return count;
}

static bool tcp_before_sleep(uint32_t index)
{
    tern_tcp_lane_mute(&tern_tcp_lanes[index], false);
    return true;
}

/* ---- start and end ---- */

/* Returns true if some rank is reached by no other byte mover. */
static bool needed(void)
{
    return tern_rte.size > tern_rte.local_size ||
           (tern_rte.size > 1 && !tern_btl_active(&tern_btl_shm));
}

/* Publishes the addresses before shm meets the other ranks in a fence. Reason: the server of
 * another launcher keeps what a rank had published at its first fence or request, and later answers
 * that there is nothing else. */
static int tcp_announce(void)
{
    return tern_btl_network_needed() ? tern_tcp_connecting_announce() : 0;
}

static int open_all(void)
{
    beside_shm = tern_btl_active(&tern_btl_shm);
    int rc = tern_tcp_connecting_open();
    if (!rc && !beside_shm)
        rc = tern_segment_attend(); /* shm would have done this */
    for (uint32_t i = 0; i < tern_lane_count && !rc; i++)
        rc = tern_tcp_lane_open(&tern_tcp_lanes[i]);
    if (!rc)
        tern_rte_on_unreached(tern_tcp_unreached);
    return rc;
}

static int tcp_init(void)
{
    if (!needed())
        return tern_error(TERN_ERR_UNSUPPORTED, "no rank on another node");
    return open_all();
}

/* Opens what init has left out, and with it sets this rank's part of the card. */
static int tcp_meet(void)
{
    return tern_tcp_connecting_is_open() ? 0 : open_all();
}

static void tcp_finalize(void)
{
    tern_rte_on_unreached(NULL);
    tern_tcp_flusher_stop();
    for (uint32_t i = 0; i < tern_lane_count; i++)
        tern_tcp_lane_close(&tern_tcp_lanes[i]);
    tern_tcp_connecting_close();
}

/* Returns true if this process may end as far as this link is concerned. If a process ends with
 * unread bytes in a connection, the system discards its own bytes that are still on their way. So
 * either all our bytes have arrived, or nothing is left to read. */
static bool is_through(struct tern_tcp_link *link)
{
    int unheard = 0;
    if (!tern_tcp_link_push(link))
        return false;
    return link->error || link->said_bye || ioctl(link->fd, SIOCOUTQ, &unheard) || unheard == 0;
}

static bool all_through(void)
{
    bool all = true;
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        receive_ready(&tern_tcp_lanes[i]);
        heed_silence(&tern_tcp_lanes[i]);
        for (struct tern_list_node *at = tern_tcp_lanes[i].links.next;
             at != &tern_tcp_lanes[i].links; at = at->next)
            all = is_through(tern_tcp_link_at(at)) && all;
    }
    return all;
}

/* Says goodbye on all links and waits until the goodbyes have arrived, however long a peer
 * computes. Reason: some minutes after a process has ended, the system drops what it still holds
 * for it. The links stay: peers may have begun to send packets for our next session. */
static void tcp_leave(void)
{
    enum { WAIT_US = 20, LONG_WAIT_US = 1000, SHORT_WAITS = 1000 };
    struct tern_packet bye = {.kind = TERN_TCP_BYE};
    tern_tcp_connecting_hang_up();
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        tern_tcp_lane_take_arrivals(&tern_tcp_lanes[i]);
        tern_tcp_lane_mute(&tern_tcp_lanes[i], false);
        for (struct tern_list_node *at = tern_tcp_lanes[i].links.next;
             at != &tern_tcp_lanes[i].links; at = at->next)
            tern_tcp_link_send(tern_tcp_link_at(at), &bye, NULL, 0, false);
    }
    for (int64_t waits = 0; !all_through(); waits++)
        usleep(waits < SHORT_WAITS ? WAIT_US : LONG_WAIT_US);
    tern_tcp_flusher_stop();
}

/* Finds the links whose other end has ended for good: nothing must be sent by them. */
static int tcp_come_back(void)
{
    for (uint32_t i = 0; i < tern_lane_count; i++)
        receive_ready(&tern_tcp_lanes[i]);
    return tern_tcp_connecting_publish();
}

const struct tern_btl tern_btl_tcp = {
    .name = "tcp",
    .announce = tcp_announce,
    .init = tcp_init,
    .finalize = tcp_finalize,
    .leave = tcp_leave,
    .meet = tcp_meet,
    .come_back = tcp_come_back,
    .reaches = tcp_reaches,
    .connect = tcp_connect,
    .send = tcp_send,
    .send_batched = tcp_send_batched,
    .send_cursor = tcp_send_cursor,
    .stream = tcp_stream,
    .progress = tcp_progress,
    .before_sleep = tcp_before_sleep,
};
