/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The byte mover for ranks on other hosts, and for any that nothing faster reaches.
 *
 * Connections are made when they are first used; meanwhile senders are told to come again. What a
 * lane knows of a peer is its endpoint: the links by which it sends. All but large messages go by
 * the first link; those go as streams, cut into pieces that every link with room takes in turn,
 * each piece straight from the user's memory and, where the receive is posted, straight into the
 * receiver's.
 *
 * A connection carries both directions. It belongs to the lane that the caller's lane number names,
 * modulo each end's own number of lanes; what is another lane's goes by the mailbox
 * (lib/pml/mailbox.c).
 */

#include "lib/btl/btl.h"
#include "lib/btl/doorbell.h"
#include "lib/btl/shm/segment.h"
#include "lib/btl/peer.h"
#include "lib/btl/tcp/call.h"
#include "lib/btl/tcp/flusher.h"
#include "lib/btl/tcp/link.h"
#include "lib/btl/tcp/reception.h"
#include "lib/rte/rte.h"
#include "lib/util/atomic.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    EAGER_MAX = 64 * 1024,
    PIECE_ALONE = 1 << 20,    /* of a stream that has one link ... */
    PIECE_SHARED = 256 << 10, /* ... or several */
    POLL_EACH = 2, /* up to so many links are read without asking which of them has something */
    EVENTS = 32,
    DOOR_TICKS = 60000, /* some 20 us between looks at the door */
    IDLE_POLLS = 64,    /* beside shm: polls without success, after which ... */
    IDLE_SKIPS = 8,     /* ... so many are left out */
    GRACE_MS = 2000,    /* for the launcher to say that a rank has died */
};

extern const struct tern_btl tern_btl_shm, tern_btl_tcp; /* below */

struct tern_endpoint {
    struct tern_tcp_link *links[TERN_TCP_LINKS_MAX]; /* [0] NULL: not connected */
    int link_count;
    struct tern_link streams;   /* that are not all in pieces yet */
    struct tern_link streaming; /* in its lane's list, if `streams` is not empty */
};

/* Guarded by the lane's lock, but for the arrivals. */
static struct lane {
    int epoll; /* of the links */
    struct tern_link links;
    struct tern_link losing; /* that have ended before their time: the launcher is given some to end us */
    int link_count;
    struct tern_tcp_link *latest; /* received last */
    struct tern_link streaming;   /* endpoints with streams */
    bool unsent;                  /* links may hold something: look */
    int watching_room;            /* links that hold something for which the system has no room */
    uint64_t door_at;
    unsigned idle, skips;
    pthread_mutex_t arrivals_lock;
    struct tern_link arrivals;
    bool has_arrivals; /* atomic */
    unsigned char *room;
} __attribute__((aligned(TERN_CACHE_LINE))) lanes[TERN_LANES_MAX];

static bool beside_shm;

static _Noreturn void give_up(const struct tern_tcp_link *link, int error)
{
    char text[256];
    snprintf(text, sizeof text, "cannot use the connection with rank %u (%s): %s; the job cannot go on",
             link->rank, link->ends ? link->ends : "", strerror(error));
    tern_rte_abort(1, text);
}

/* ---- links of a lane ---- */

static void watch_link(struct lane *lane, struct tern_tcp_link *link, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | (link->watching_room ? EPOLLOUT : 0),
                                .data.ptr = link};
    if (epoll_ctl(lane->epoll, operation, link->fd, &event))
        give_up(link, errno);
}

static void watch_room(struct lane *lane, struct tern_tcp_link *link, bool wanted)
{
    if (link->watching_room == wanted)
        return;
    link->watching_room = wanted;
    lane->watching_room += wanted ? 1 : -1;
    watch_link(lane, link, EPOLL_CTL_MOD);
}

static struct tern_tcp_link *link_at(struct tern_link *at)
{
    return TERN_CONTAINER(at, struct tern_tcp_link, in_lane);
}

/* NULL: no memory. */
static struct tern_endpoint *endpoint_of(struct tern_peer *peer)
{
    struct tern_endpoint *endpoint = peer->endpoint;
    if (!endpoint && (endpoint = calloc(1, sizeof *endpoint))) {
        tern_list_init(&endpoint->streams);
        peer->endpoint = endpoint;
    }
    return endpoint;
}

static void attach(struct lane *lane, struct tern_tcp_link *link)
{
    uint32_t index = (uint32_t)(lane - lanes);
    link->peer = tern_peer_get(index, 0, link->rank);
    struct tern_endpoint *endpoint = link->peer ? endpoint_of(link->peer) : NULL;
    if (!endpoint)
        give_up(link, ENOMEM);
    __atomic_store_n(&link->peer->came_by, &tern_btl_tcp, __ATOMIC_RELAXED);
    tern_list_append(&lane->links, &link->in_lane);
    lane->link_count++;
    watch_link(lane, link, EPOLL_CTL_ADD);
    if (link->tag != index)
        return; /* another lane of the peer's: it has more of them */
    link->endpoint = endpoint;
    endpoint->links[link->index] = link;
    if (link->index >= endpoint->link_count)
        endpoint->link_count = link->index + 1;
}

static void take_from_endpoint(struct tern_tcp_link *link)
{
    struct tern_endpoint *endpoint = link->endpoint;
    link->endpoint = NULL;
    if (!endpoint)
        return;
    endpoint->links[link->index] = NULL;
    while (endpoint->link_count && !endpoint->links[endpoint->link_count - 1])
        endpoint->link_count--;
}

/* No more of it is received or sent. */
static void take_from_lane(struct lane *lane, struct tern_tcp_link *link)
{
    if (lane->latest == link)
        lane->latest = NULL;
    tern_list_remove(&link->in_lane);
    lane->link_count--;
    lane->watching_room -= link->watching_room;
}

static void end_link(struct tern_tcp_link *link)
{
    take_from_endpoint(link);
    tern_list_remove(&link->in_lane);
    tern_tcp_reception_ended(link->rank, link->tag, link->index);
    tern_tcp_link_free(link);
}

static void detach(struct lane *lane, struct tern_tcp_link *link)
{
    take_from_lane(lane, link);
    tern_list_init(&link->in_lane);
    end_link(link);
}

/* ---- lost connections ---- */

/* A connection that ends before its time. Most often the other process has died, and the launcher is about to end us: its word
 * about that is the better one, so it has some time before ours. */
static void begin_losing(struct lane *lane, struct tern_tcp_link *link, int error)
{
    take_from_lane(lane, link);
    tern_list_append(&lane->losing, &link->in_lane);
    epoll_ctl(lane->epoll, EPOLL_CTL_DEL, link->fd, NULL);
    link->error = error ? error : ECONNRESET;
    link->lost_at_ms = tern_tcp_now_ms();
    char host[256], text[700];
    tern_rte_host_of(link->rank, host, sizeof host);
    snprintf(text, sizeof text, "the connection of rank %u on host %s with rank %u on host %s is lost (%s): %s",
             tern_rte.rank, tern_rte.host, link->rank, host, link->ends ? link->ends : "",
             error == ESHUTDOWN ? "it has left MPI before a message to it was through"
             : error            ? strerror(error)
                                : "its other end has closed it without having finished");
    free(link->ends);
    link->ends = strdup(text);
}

/* Some of what went by one of its links has not arrived, and nobody knows what: so none of them is used any more. */
static void lose(struct lane *lane, struct tern_tcp_link *lost)
{
    struct tern_peer *peer = lost->peer;
    struct tern_endpoint *endpoint = peer->endpoint;
    void *owner = tern_tcp_link_owner(lost);
    char *text = lost->ends;
    lost->ends = NULL;
    end_link(lost);
    tern_list_init(&endpoint->streams);
    for (int i = endpoint->link_count - 1; i >= 0; i--)
        if (endpoint->links[i] && !endpoint->links[i]->lost_at_ms) {
            void *other = tern_tcp_link_owner(endpoint->links[i]);
            detach(lane, endpoint->links[i]);
            if (other)
                tern_btl_lost(peer, other, text ? text : "");
        }
    tern_btl_lost(peer, owner, text ? text : "no memory to say why a connection is lost");
    free(text);
}

static int heed_losing(struct lane *lane)
{
    uint64_t grace_ms = tern_rte.managed ? GRACE_MS : 0, now = tern_tcp_now_ms();
    int count = 0;
    for (struct tern_link *at = lane->losing.next, *next; at != &lane->losing; at = next) {
        next = at->next;
        if (now - link_at(at)->lost_at_ms >= grace_ms) {
            lose(lane, link_at(at));
            count++;
        }
    }
    return count;
}

/* ---- arrivals ---- */

void tern_tcp_arrive(struct tern_tcp_link *link)
{
    struct lane *lane = &lanes[link->tag & (tern_lane_count - 1)];
    pthread_mutex_lock(&lane->arrivals_lock);
    tern_list_append(&lane->arrivals, &link->in_lane);
    __atomic_store_n(&lane->has_arrivals, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lane->arrivals_lock);
    tern_doorbell_ring_self(); /* the lane may be another thread's */
}

static int take_arrivals(struct lane *lane)
{
    struct tern_link list;
    int count = 0;
    pthread_mutex_lock(&lane->arrivals_lock);
    tern_list_move(&lane->arrivals, &list);
    __atomic_store_n(&lane->has_arrivals, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lane->arrivals_lock);
    while (!tern_list_empty(&list)) {
        struct tern_tcp_link *link = link_at(list.next);
        tern_list_remove(&link->in_lane);
        attach(lane, link);
        count++;
    }
    return count;
}

/* ---- sending ---- */

static bool tcp_reaches(uint32_t job, uint32_t rank)
{
    return job == 0 && rank != tern_rte.rank;
}

static int tcp_connect(struct tern_peer *peer)
{
    return endpoint_of(peer)
               ? 0
               : tern_error(TERN_ERR_NO_MEM, "no memory to connect to rank %u", peer->rank);
}

static int not_connected(struct tern_peer *peer)
{
    if (peer->lost)
        return tern_error(TERN_ERR_UNREACHABLE, "%s", peer->lost);
    int rc = tern_tcp_reception_call(peer->rank, (uint8_t)peer->lane);
    return rc ? rc : TERN_ERR_AGAIN;
}

/* After a write: is there something left? A failed one is not the end yet: what the other end sent
 * before may be its goodbye, which receiving will find. */
static inline int see(struct tern_peer *peer, struct tern_tcp_link *link, int rc)
{
    if (link->unsent)
        lanes[peer->lane].unsent = true;
    return rc;
}

static int tcp_send(struct tern_peer *peer, const struct tern_packet *packet, const void *payload,
                    size_t length)
{
    struct tern_tcp_link *link = peer->endpoint->links[0];
    if (TERN_UNLIKELY(!link))
        return not_connected(peer);
    return see(peer, link, tern_tcp_link_send(link, packet, payload, length, false));
}

static int tcp_send_soon(struct tern_peer *peer, const struct tern_packet *packet,
                         const void *payload, size_t length)
{
    struct tern_tcp_link *link = peer->endpoint->links[0];
    if (TERN_UNLIKELY(!link))
        return not_connected(peer);
    return see(peer, link, tern_tcp_link_send(link, packet, payload, length, true));
}

static int tcp_send_cursor(struct tern_peer *peer, const struct tern_packet *packet,
                           struct tern_cursor *cursor, size_t length)
{
    struct tern_tcp_link *link = peer->endpoint->links[0];
    if (TERN_UNLIKELY(!link))
        return not_connected(peer);
    return see(peer, link, tern_tcp_link_send_cursor(link, packet, cursor, length));
}

/* ---- streams ---- */

static struct tern_stream *first_stream(struct tern_endpoint *endpoint)
{
    if (tern_list_empty(&endpoint->streams))
        return NULL;
    return TERN_CONTAINER(endpoint->streams.next, struct tern_stream, link);
}

static void begin_piece(struct tern_endpoint *endpoint, struct tern_tcp_link *link,
                        struct tern_stream *stream)
{
    tern_tcp_link_begin_piece(link, stream, endpoint->link_count > 1 ? PIECE_SHARED : PIECE_ALONE);
    if (stream->cursor.offset == stream->cursor.length) {
        tern_list_remove(&stream->link);
        tern_list_init(&stream->link);
    }
}

/* A piece that is gone; with the last one of a stream the stream is done. */
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

/* Writes what a link holds and takes pieces for it as long as there is room. Returns the pieces
 * that went. */
static int feed(struct lane *lane, struct tern_endpoint *endpoint, struct tern_tcp_link *link)
{
    int count = 0;
    for (;;) {
        bool gone = tern_tcp_link_push(link);
        if (TERN_UNLIKELY(link->error))
            return count;
        count += finish_piece(link);
        struct tern_stream *stream = endpoint ? first_stream(endpoint) : NULL;
        if (!gone || !stream || link->piece.stream) {
            watch_room(lane, link, !gone);
            return count;
        }
        begin_piece(endpoint, link, stream);
    }
}

static int feed_all(struct lane *lane, struct tern_endpoint *endpoint)
{
    int count = 0;
    for (int i = 0; i < endpoint->link_count; i++)
        if (endpoint->links[i])
            count += feed(lane, endpoint, endpoint->links[i]);
    return count;
}

/* The answer that begins a stream came by a link of this peer, so there is one. */
static void tcp_stream(struct tern_peer *peer, struct tern_stream *stream)
{
    struct tern_endpoint *endpoint = peer->endpoint;
    struct lane *lane = &lanes[peer->lane];
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

/* Whatever links hold, and pieces for those with room. Links without are left alone until epoll
 * says that they have some: each attempt takes the connection's lock, and its acknowledgements need
 * that. */
static int write_all(struct lane *lane)
{
    int count = 0;
    lane->unsent = false;
    for (struct tern_link *at = lane->links.next, *next; at != &lane->links; at = next) {
        next = at->next;
        struct tern_tcp_link *link = link_at(at);
        struct tern_endpoint *endpoint = link->endpoint;
        bool streams = endpoint && first_stream(endpoint);
        if (!link->watching_room && (streams || link->piece.stream || link->unsent))
            count += feed(lane, endpoint, link);
    }
    return count;
}

/* ---- receiving ---- */

/* Does a message of ours depend on it? */
static bool is_needed(const struct tern_tcp_link *link)
{
    return link->piece.stream ||
           (link->index == 0 && link->endpoint && first_stream(link->endpoint));
}

static int receive(struct lane *lane, struct tern_tcp_link *link)
{
    int count = tern_tcp_link_receive(link, lane->room);
    if (TERN_UNLIKELY(count < 0)) {
        int error = errno ? errno : link->error;
        if (!link->said_bye || is_needed(link))
            begin_losing(lane, link, link->said_bye ? ESHUTDOWN : error);
        else
            detach(lane, link);
        return 1;
    }
    if (count > 0)
        lane->latest = link;
    return count;
}

static int receive_few(struct lane *lane)
{
    int count = 0;
    for (struct tern_link *at = lane->links.next, *next; at != &lane->links; at = next) {
        next = at->next;
        count += receive(lane, link_at(at));
    }
    return count;
}

static int receive_ready(struct lane *lane)
{
    struct epoll_event events[EVENTS];
    int count = 0, n = epoll_wait(lane->epoll, events, EVENTS, 0);
    for (int i = 0; i < n; i++) {
        struct tern_tcp_link *link = events[i].data.ptr;
        if (events[i].events & EPOLLOUT)
            count += feed(lane, link->endpoint, link);
        if (events[i].events & ~(unsigned)EPOLLOUT)
            count += receive(lane, link); /* each link but once in the list: freeing it is safe */
    }
    return count;
}

static int receive_all(struct lane *lane)
{
    if (lane->link_count <= POLL_EACH && !lane->watching_room)
        return receive_few(lane);
    int count = lane->latest ? receive(lane, lane->latest) : 0;
    return count ? count : receive_ready(lane);
}

/* Beside shm each look here costs those who wait for shm. */
static bool sit_out(struct lane *lane)
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
    struct lane *lane = &lanes[index];
    int count = 0;
    if (TERN_UNLIKELY(lane->unsent))
        count += write_all(lane);
    if (beside_shm && sit_out(lane))
        return count;
    uint64_t now = tern_ticks();
    if (now - lane->door_at > DOOR_TICKS) {
        lane->door_at = now;
        count += tern_tcp_reception_progress();
        if (TERN_UNLIKELY(!tern_list_empty(&lane->losing)))
            count += heed_losing(lane);
    }
    if (TERN_UNLIKELY(__atomic_load_n(&lane->has_arrivals, __ATOMIC_RELAXED)))
        count += take_arrivals(lane);
    if (lane->link_count)
        count += receive_all(lane);
    lane->idle = count ? 0 : lane->idle + 1;
    return count;
}

/* ---- start and end ---- */

static int open_lane(struct lane *lane)
{
    tern_list_init(&lane->links);
    tern_list_init(&lane->streaming);
    tern_list_init(&lane->losing);
    tern_list_init(&lane->arrivals);
    pthread_mutex_init(&lane->arrivals_lock, NULL);
    lane->epoll = epoll_create1(EPOLL_CLOEXEC);
    lane->room = malloc(TERN_TCP_ROOM);
    if (lane->epoll < 0 || !lane->room)
        return tern_error(TERN_ERR_OTHER, "nothing to receive from the network with: %s",
                          strerror(errno));
    return tern_doorbell_watch(lane->epoll);
}

/* Is there anybody whom nothing else reaches? */
static bool needed(void)
{
    return tern_rte.size > tern_rte.local_size ||
           (tern_rte.size > 1 && !tern_btl_active(&tern_btl_shm));
}

/* Another launcher's server keeps, of what a rank has published, what was there at its first fence or request, and answers that
 * there is nothing else: before shm meets the others in a fence the addresses must be there. */
static int tcp_announce(void)
{
    return tern_rte.size > tern_rte.local_size ? tern_tcp_reception_announce() : 0;
}

static int tcp_init(void)
{
    if (!needed())
        return tern_error(TERN_ERR_UNSUPPORTED, "no rank on another node");
    beside_shm = tern_btl_active(&tern_btl_shm);
    int rc = tern_tcp_reception_open();
    if (!rc && !beside_shm)
        rc = tern_segment_attend(); /* which shm would have done */
    for (uint32_t i = 0; i < tern_lane_count && !rc; i++)
        rc = open_lane(&lanes[i]);
    return rc;
}

static void close_lane(struct lane *lane)
{
    while (!tern_list_empty(&lane->links))
        detach(lane, link_at(lane->links.next));
    while (!tern_list_empty(&lane->losing))
        end_link(link_at(lane->losing.next));
    tern_doorbell_unwatch(lane->epoll);
    close(lane->epoll);
    free(lane->room);
    *lane = (struct lane){0};
}

static void tcp_finalize(void)
{
    tern_tcp_flusher_stop();
    for (uint32_t i = 0; i < tern_lane_count; i++)
        close_lane(&lanes[i]);
    tern_tcp_reception_close();
}

/* May this process end? When one ends with something unread in a connection, the system takes back
 * what is still on its way from there. So either all of ours has arrived, or there is nothing to
 * come. */
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
        receive_ready(&lanes[i]);
        for (struct tern_link *at = lanes[i].links.next; at != &lanes[i].links; at = at->next)
            all = is_through(link_at(at)) && all;
    }
    return all;
}

/* Says goodbye on all links and waits until that has arrived. The links stay: others may have begun
 * to send what is for our next session. */
static void tcp_leave(void)
{
    enum { WAIT_US = 20, PATIENCE = 5 * 1000 * 1000 / WAIT_US };
    struct tern_packet bye = {.kind = TERN_TCP_BYE};
    tern_tcp_reception_hang_up();
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        take_arrivals(&lanes[i]);
        for (struct tern_link *at = lanes[i].links.next; at != &lanes[i].links; at = at->next)
            tern_tcp_link_send(link_at(at), &bye, NULL, 0, false);
    }
    for (int waited = 0; !all_through() && waited < PATIENCE; waited++)
        usleep(WAIT_US);
    tern_tcp_flusher_stop();
}

/* Connections whose other end is gone for good must not be sent by. */
static bool tcp_come_back(void)
{
    int rc = tern_tcp_reception_publish();
    if (rc)
        tern_log("%s", tern_error_text(rc));
    for (uint32_t i = 0; i < tern_lane_count; i++)
        receive_ready(&lanes[i]);
    return true;
}

const struct tern_btl tern_btl_tcp = {
    .name = "tcp",
    .packet_max = TERN_TCP_PACKET_MAX,
    .eager_max = EAGER_MAX,
    .credit_factor = 8,
    .announce = tcp_announce,
    .init = tcp_init,
    .finalize = tcp_finalize,
    .leave = tcp_leave,
    .come_back = tcp_come_back,
    .reaches = tcp_reaches,
    .connect = tcp_connect,
    .send = tcp_send,
    .send_soon = tcp_send_soon,
    .send_cursor = tcp_send_cursor,
    .stream = tcp_stream,
    .progress = tcp_progress,
};
