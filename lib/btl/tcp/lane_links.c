/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/lane_links.h"

#include "lib/btl/path.h"
#include "lib/btl/tcp/arrivals.h"
#include "lib/btl/tcp/clock.h"
#include "lib/btl/tcp/connecting.h"
#include "lib/btl/tcp/listener.h"
#include "lib/node/doorbell.h"
#include "lib/rte/jobs.h"
#include "lib/rte/rte.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { GRACE_MS = 2000 }; /* in which the launcher may report that a rank has died */

extern const struct tern_btl tern_btl_tcp; /* tcp.c */

struct tern_tcp_lane tern_tcp_lanes[TERN_LANES_MAX];

static _Noreturn void give_up(const struct tern_tcp_link *link, int error)
{
    char text[256 + TERN_PROCESS_TEXT], process[TERN_PROCESS_TEXT];
    snprintf(text, sizeof text, "cannot use the connection with %s (%s): %s; the job cannot go on",
             tern_process_text(link->process.job, link->process.rank, process),
             link->ends ? link->ends : "", strerror(error));
    tern_rte_abort(1, text);
}

/* ---- links of a lane ---- */

static void watch_link(struct tern_tcp_lane *lane, struct tern_tcp_link *link, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | (link->watching_room ? EPOLLOUT : 0),
                                .data.ptr = link};
    if (epoll_ctl(lane->epoll, operation, link->fd, &event))
        give_up(link, errno);
}

void tern_tcp_lane_watch_room(struct tern_tcp_lane *lane, struct tern_tcp_link *link, bool wanted)
{
    if (link->watching_room == wanted)
        return;
    link->watching_room = wanted;
    lane->watching_room += wanted ? 1 : -1;
    watch_link(lane, link, EPOLL_CTL_MOD);
}

void tern_tcp_lane_mute(struct tern_tcp_lane *lane, bool muted)
{
    int least = muted ? TERN_TCP_ROOM : 1;
    if (lane->muted == muted)
        return;
    lane->muted = muted;
    lane->received = 0;
    for (struct tern_list_node *at = lane->links.next; at != &lane->links; at = at->next)
        setsockopt(tern_tcp_link_at(at)->fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
}

struct tern_tcp_endpoint *tern_tcp_endpoint_of(struct tern_peer *peer)
{
    if (!peer->tcp && (peer->tcp = calloc(1, sizeof *peer->tcp)))
        tern_list_init(&peer->tcp->streams);
    return peer->tcp;
}

/* Writes the path of all links by which we send to the peer; links of one pair of addresses count
 * once. */
static void describe_path(struct tern_peer *peer, const struct tern_tcp_endpoint *endpoint)
{
    char path[TERN_PATH_MOST] = "tcp", one[TERN_TCP_ENDS];
    size_t used = strlen(path);
    for (int i = 0; i < endpoint->link_count && used < sizeof path; i++) {
        if (!endpoint->links[i])
            continue;
        tern_tcp_describe_path(endpoint->links[i]->fd, one);
        if (!strstr(path, one))
            used += (size_t)snprintf(path + used, sizeof path - used, "%s %s",
                                     used > strlen("tcp") ? "," : "", one);
    }
    tern_path_set(&peer->path, path);
}

static void attach(struct tern_tcp_lane *lane, struct tern_tcp_link *link)
{
    uint32_t index = (uint32_t)(lane - tern_tcp_lanes);
    link->peer = tern_peer_get(index, link->process.job, link->process.rank);
    struct tern_tcp_endpoint *endpoint = link->peer ? tern_tcp_endpoint_of(link->peer) : NULL;
    if (!endpoint)
        give_up(link, ENOMEM);
    if (link->peer->lost) { /* too late: the sends that waited for the link have failed */
        tern_tcp_connecting_ended(link->process, link->tag, link->index);
        tern_tcp_link_free(link);
        return;
    }
    __atomic_store_n(&link->peer->came_by, &tern_btl_tcp, __ATOMIC_RELAXED);
    tern_tcp_lane_mute(lane, false); /* there may be too many links now to read each */
    tern_list_append(&lane->links, &link->in_lane);
    link->polled_at = &lane->door_at;
    lane->link_count++;
    watch_link(lane, link, EPOLL_CTL_ADD);
    if (link->tag != index || link->index == TERN_TCP_LINK_SECOND)
        /* the link is for another lane of the peer, which has more lanes; or only the peer sends by
         * it */
        return;
    link->endpoint = endpoint;
    endpoint->links[link->index] = link;
    if (link->index >= endpoint->link_count)
        endpoint->link_count = link->index + 1;
    describe_path(link->peer, endpoint);
}

static void take_from_endpoint(struct tern_tcp_link *link)
{
    struct tern_tcp_endpoint *endpoint = link->endpoint;
    link->endpoint = NULL;
    if (!endpoint)
        return;
    endpoint->links[link->index] = NULL;
    while (endpoint->link_count && !endpoint->links[endpoint->link_count - 1])
        endpoint->link_count--;
}

/* Takes the link out of the lane: it neither receives nor sends any more. */
static void take_from_lane(struct tern_tcp_lane *lane, struct tern_tcp_link *link)
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
    tern_tcp_connecting_ended(link->process, link->tag, link->index);
    tern_tcp_link_free(link);
}

void tern_tcp_lane_drop(struct tern_tcp_lane *lane, struct tern_tcp_link *link)
{
    take_from_lane(lane, link);
    tern_list_init(&link->in_lane);
    end_link(link);
}

/* ---- lost connections ---- */

/* Most often the other process has died, and the launcher is about to end us. The launcher's
 * message is the better one, so it gets some time before ours. */
void tern_tcp_lane_begin_losing(struct tern_tcp_lane *lane, struct tern_tcp_link *link, int error)
{
    take_from_lane(lane, link);
    tern_list_append(&lane->losing, &link->in_lane);
    epoll_ctl(lane->epoll, EPOLL_CTL_DEL, link->fd, NULL);
    link->error = error ? error : ECONNRESET;
    link->lost_at_ms = tern_tcp_now_ms();
    char host[256], text[800], process[TERN_PROCESS_TEXT];
    tern_process_host(link->process.job, link->process.rank, host, sizeof host);
    snprintf(text, sizeof text,
             "the connection of rank %u on host %s with %s on host %s is lost (%s): %s",
             tern_rte.rank, tern_rte.host,
             tern_process_text(link->process.job, link->process.rank, process), host,
             link->ends ? link->ends : "",
             error == EBADMSG && link->sealed
                 ? "the received data are not the data that were sent: they were changed, repeated "
                   "or removed on the way"
             : error == ESHUTDOWN ? "it left MPI before it had received all messages sent to it"
             : error == ETIMEDOUT ? "its host no longer answers (see btl_tcp_timeout)"
             : error              ? strerror(error)
                                  : "the other rank closed it too early");
    free(link->ends);
    link->ends = strdup(text);
}

/* Stops using all links of the peer. */
static void lose_peer(struct tern_tcp_lane *lane, struct tern_peer *peer, void *owner,
                      const char *text)
{
    struct tern_tcp_endpoint *endpoint = peer->tcp;
    if (endpoint)
        tern_list_init(&endpoint->streams);
    for (int i = endpoint ? endpoint->link_count - 1 : -1; i >= 0; i--)
        if (endpoint->links[i] && !endpoint->links[i]->lost_at_ms) {
            void *other = tern_tcp_link_owner(endpoint->links[i]);
            tern_tcp_lane_drop(lane, endpoint->links[i]);
            if (other)
                tern_btl_lost(peer, other, text);
        }
    tern_btl_lost(peer, owner, text);
}

/* Loses the peer of a link: some of the bytes that travelled on the link have not arrived, and we
 * cannot know which. */
static void lose(struct tern_tcp_lane *lane, struct tern_tcp_link *lost)
{
    struct tern_peer *peer = lost->peer;
    void *owner = tern_tcp_link_owner(lost);
    char *text = lost->ends;
    lost->ends = NULL;
    end_link(lost);
    lose_peer(lane, peer, owner, text ? text : "no memory for the message that a connection is "
                                               "lost");
    free(text);
}

int tern_tcp_lane_heed_losing(struct tern_tcp_lane *lane)
{
    uint64_t grace_ms = tern_rte.managed ? GRACE_MS : 0, now = tern_tcp_now_ms();
    int count = 0;
    for (struct tern_list_node *at = lane->losing.next, *next; at != &lane->losing; at = next) {
        next = at->next;
        if (now - tern_tcp_link_at(at)->lost_at_ms >= grace_ms) {
            lose(lane, tern_tcp_link_at(at));
            count++;
        }
    }
    return count;
}

/* ---- peers that cannot be reached ---- */

static void heed_unreached(struct tern_tcp_lane *lane, struct tern_tcp_unreached *unreached)
{
    struct tern_process process = unreached->process;
    struct tern_peer *peer =
        tern_peer_get((uint32_t)(lane - tern_tcp_lanes), process.job, process.rank);
    if (!peer)
        tern_rte_abort(1, unreached->text);
    if (unreached->how == TERN_UNREACHED_LOST)
        lose_peer(lane, peer, NULL, unreached->text);
    else
        tern_tcp_connecting_heed(process.rank, unreached->tag, unreached->how);
    free(unreached);
}

/* ---- arrivals ---- */

int tern_tcp_lane_take_arrivals(struct tern_tcp_lane *lane)
{
    struct tern_list_node list, unreached;
    int count = 0;
    tern_tcp_arrivals_take(&tern_tcp_arrivals[lane - tern_tcp_lanes], &list, &unreached);
    while (!tern_list_empty(&list)) {
        struct tern_tcp_link *link = tern_tcp_link_at(list.next);
        tern_list_remove(&link->in_lane);
        attach(lane, link);
        count++;
    }
    while (!tern_list_empty(&unreached)) {
        struct tern_list_node *first = unreached.next;
        tern_list_remove(first);
        heed_unreached(lane, TERN_CONTAINER(first, struct tern_tcp_unreached, in_lane));
        count++;
    }
    return count;
}

/* ---- start and end ---- */

int tern_tcp_lane_open(struct tern_tcp_lane *lane)
{
    tern_list_init(&lane->links);
    tern_list_init(&lane->losing);
    tern_tcp_arrivals_open(&tern_tcp_arrivals[lane - tern_tcp_lanes]);
    lane->epoll = epoll_create1(EPOLL_CLOEXEC);
    lane->room = malloc(TERN_TCP_ROOM);
    if (lane->epoll < 0 || !lane->room)
        return tern_error(TERN_ERR_OTHER, "cannot prepare to receive from the network: %s",
                          strerror(errno));
    return tern_doorbell_watch(lane->epoll);
}

void tern_tcp_lane_close(struct tern_tcp_lane *lane)
{
    while (!tern_list_empty(&lane->links))
        tern_tcp_lane_drop(lane, tern_tcp_link_at(lane->links.next));
    while (!tern_list_empty(&lane->losing))
        end_link(tern_tcp_link_at(lane->losing.next));
    tern_doorbell_unwatch(lane->epoll);
    close(lane->epoll);
    free(lane->room);
    *lane = (struct tern_tcp_lane){0};
}
