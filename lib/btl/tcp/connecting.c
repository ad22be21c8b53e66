/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/connecting.h"

#include "lib/btl/secret.h"
#include "lib/btl/tcp/arrivals.h"
#include "lib/btl/tcp/clock.h"
#include "lib/btl/tcp/congestion.h"
#include "lib/btl/tcp/dial.h"
#include "lib/btl/tcp/listener.h"
#include "lib/btl/tcp/sealed.h"
#include "lib/btl/tcp/socket.h"
#include "lib/node/doorbell.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"
#include "lib/util/base/scarcity.h"

#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    VISITORS_MAX = 256, /* accepted, without a complete hello ... */
    VISITORS_PART = 4,  /* ... and at most one of so many descriptors that this process may have */
    EVENTS = 32,
};

static struct {
    pthread_mutex_t lock;
    bool open, announced;
    int epoll; /* of the listening socket, all calls, the clock, and the launcher's replies */
    int launcher; /* descriptor of the launcher's replies; -1: none to watch */
    int clock; /* a timer that wakes sleepers when the next address is due */
    uint64_t clock_ms; /* time for which the timer is set; 0: not set */
    uint64_t door_due_ms; /* when the listening socket is watched again; 0: it is watched */
    struct tern_list_node calls;
    int visitors; /* accepted connections without a complete hello */
    int visitors_max;
    /* time of the last progress, and for how long there was none before */
    uint64_t looked_ms, away_ms;
} reception = {.lock = PTHREAD_MUTEX_INITIALIZER,
               .epoll = -1,
               .launcher = -1,
               .clock = -1,
               .calls = {&reception.calls, &reception.calls}};

/* ---- outgoing and accepted connections ---- */

static struct tern_tcp_call *call_at(struct tern_list_node *link)
{
    return TERN_CONTAINER(link, struct tern_tcp_call, node);
}

static bool is_visitor(const struct tern_tcp_call *call)
{
    return call->step >= TERN_TCP_AWAITING_HELLO;
}

static bool watch(int fd, uint32_t events, void *what, int operation)
{
    struct epoll_event event = {.events = events, .data.ptr = what};
    return epoll_ctl(reception.epoll, operation, fd, &event) == 0;
}

/* Watches the descriptor of the launcher's replies. It is a new one if this process was away: the
 * old one has been closed. */
static void watch_launcher(void)
{
    reception.launcher = tern_rte_fd();
    if (reception.launcher >= 0)
        watch(reception.launcher, EPOLLIN, &reception.launcher, EPOLL_CTL_ADD);
}

static void heed_launcher(void)
{
    if (!tern_rte_attend()) /* the launcher has ended; its guardian will end us */
        epoll_ctl(reception.epoll, EPOLL_CTL_DEL, reception.launcher, NULL);
}

struct tern_tcp_call *tern_tcp_connecting_dial_after(const struct tern_tcp_call *call)
{
    struct tern_list_node *next = call ? call->node.next : reception.calls.next;
    return next == &reception.calls ? NULL : call_at(next);
}

static enum tern_standing standing(const struct tern_list_node *visitor)
{
    const struct tern_tcp_call *call = TERN_CONTAINER(visitor, struct tern_tcp_call, node);
    if (call->step == TERN_TCP_AWAITING_CONFIRM)
        return TERN_VISITOR_ANSWERED;
    if (call->step != TERN_TCP_AWAITING_HELLO)
        return TERN_VISITOR_KNOWN;
    return tern_tcp_accept_waits(call) ? TERN_VISITOR_WAITS : TERN_VISITOR_SILENT;
}

static const struct tern_hello *hello_of(const struct tern_list_node *visitor)
{
    return &TERN_CONTAINER(visitor, struct tern_tcp_call, node)->hello;
}

static bool hear_visitor(struct tern_list_node *visitor)
{
    return tern_tcp_accept_go_on(call_at(visitor));
}

static void close_visitor(struct tern_list_node *visitor)
{
    tern_tcp_connecting_end_dial(call_at(visitor));
}

const struct tern_visitors tern_tcp_visitors = {.list = &reception.calls,
                                                .standing = standing,
                                                .hello = hello_of,
                                                .hear = hear_visitor,
                                                .close = close_visitor};

bool tern_tcp_connecting_dial(struct tern_tcp_call *call, uint32_t events)
{
    if (is_visitor(call)) {
        reception.visitors++;
    } else {
        call->contact->calls++;
        call->contact->connecting++;
    }
    tern_list_append(&reception.calls, &call->node);
    return watch(call->fd, events, call, EPOLL_CTL_ADD);
}

bool tern_tcp_connecting_watch(struct tern_tcp_call *call, uint32_t events)
{
    return watch(call->fd, events, call, EPOLL_CTL_MOD) ||
           (errno == ENOENT && watch(call->fd, events, call, EPOLL_CTL_ADD));
}

bool tern_tcp_connecting_are_many(void)
{
    return reception.visitors > reception.visitors_max;
}

void tern_tcp_connecting_rest(uint64_t now_ms)
{
    reception.door_due_ms = now_ms + TERN_SCARCITY_MS;
    epoll_ctl(reception.epoll, EPOLL_CTL_DEL, tern_tcp_door.fd, NULL);
}

void tern_tcp_connecting_is_welcome(struct tern_tcp_call *visit, struct tern_tcp_contact *contact)
{
    reception.visitors--;
    contact->arriving++;
    visit->contact = contact;
    visit->step = TERN_TCP_AWAITING_CONFIRM;
}

uint64_t tern_tcp_away_ms(void)
{
    return reception.away_ms;
}

void tern_tcp_connecting_end_dial(struct tern_tcp_call *call)
{
    if (call->step == TERN_TCP_AWAITING_HELLO) {
        reception.visitors--;
    } else if (is_visitor(call)) {
        call->contact->arriving--;
    } else {
        call->contact->calls--;
        call->contact->connecting -= call->step < TERN_TCP_AWAITING_ANSWER;
    }
    if (call->fd >= 0)
        close(call->fd); /* this also removes it from the epoll */
    tern_list_remove(&call->node);
    free(call);
}

/* Cancels our calls to a contact for the first link, except `but`. */
static void cancel_calls(const struct tern_tcp_contact *contact, const struct tern_tcp_call *but)
{
    for (struct tern_list_node *at = reception.calls.next, *next; at != &reception.calls;
         at = next) {
        next = at->next;
        struct tern_tcp_call *call = call_at(at);
        if (call != but && call->contact == contact && !is_visitor(call) && call->link == 0)
            tern_tcp_connecting_end_dial(call);
    }
}

/* Makes a link of the connection. Returns NULL if there is no memory. */
static struct tern_tcp_link *make_link(const struct tern_tcp_call *call, uint8_t index)
{
    struct tern_tcp_sealed *sealed = NULL;
    if (tern_tcp_sealed_wanted()) {
        sealed = tern_tcp_sealed_new(!is_visitor(call), &call->hello, &call->answer,
                                     tern_tcp_dial_secret(call));
        if (!sealed)
            return NULL;
    }
    return tern_tcp_link_new(call->fd, sealed, call->contact->process, call->contact->tag, index);
}

/* Two ranks that call each other at the same time may both accept the other's call. By then each
 * may have sent something through its own call, so both connections stay. Each rank sends by its
 * own call, and only receives by the other's. */
void tern_tcp_connecting_hand_over(struct tern_tcp_call *call)
{
    struct tern_tcp_contact *contact = call->contact;
    uint8_t bit = (uint8_t)(1u << call->link);
    bool second = contact->links & bit;
    struct tern_tcp_link *link = make_link(call, second ? TERN_TCP_LINK_SECOND : call->link);
    if (link) {
        epoll_ctl(reception.epoll, EPOLL_CTL_DEL, call->fd, NULL);
        tern_tcp_silence_begin(call->fd);
        call->fd = -1;
        contact->links |= bit;
        if (call->link == 0 && !second) {
            cancel_calls(contact, call);
            tern_tcp_search_found(contact);
        }
        tern_tcp_arrive(link);
    }
    tern_tcp_connecting_end_dial(call);
}

/* ---- requests of lanes ---- */

int tern_tcp_connecting_start(struct tern_process process, uint8_t tag)
{
    pthread_mutex_lock(&reception.lock);
    struct tern_tcp_contact *contact = tern_tcp_search_of(process, tag);
    int rc = contact ? tern_tcp_search_begin(contact)
                     : tern_error(TERN_ERR_NO_MEM, "no memory to connect to rank %u",
                                  process.rank);
    pthread_mutex_unlock(&reception.lock);
    return rc;
}

void tern_tcp_connecting_heed(uint32_t rank, uint8_t tag, enum tern_unreached how)
{
    pthread_mutex_lock(&reception.lock);
    struct tern_tcp_contact *contact =
        tern_tcp_search_of((struct tern_process){0, rank}, tag);
    if (contact)
        tern_tcp_search_heed(contact, how);
    for (struct tern_tcp_call *call = tern_tcp_connecting_dial_after(NULL); call && contact;
         call = tern_tcp_connecting_dial_after(call))
        if (call->contact == contact && contact->they_gave_up && !is_visitor(call))
            tern_tcp_dial_is_the_last(call);
    pthread_mutex_unlock(&reception.lock);
}

void tern_tcp_connecting_ended(struct tern_process process, uint8_t tag, uint8_t index)
{
    pthread_mutex_lock(&reception.lock);
    struct tern_tcp_contact *contact = tern_tcp_search_of(process, tag);
    if (contact && index != TERN_TCP_LINK_SECOND)
        contact->links &= (uint8_t)~(1u << index);
    pthread_mutex_unlock(&reception.lock);
}

int tern_tcp_connecting_publish(void)
{
    pthread_mutex_lock(&reception.lock);
    watch_launcher();
    int rc = tern_tcp_door_put();
    pthread_mutex_unlock(&reception.lock);
    return rc;
}

/* ---- progress ---- */

static void go_on(struct tern_tcp_call *call)
{
    if (is_visitor(call))
        tern_tcp_accept_go_on(call);
    else
        tern_tcp_dial_go_on(call);
}

/* Handles a deadline that has passed. */
static void heed_deadline(struct tern_tcp_call *call)
{
    if (is_visitor(call))
        tern_visitors_end(&tern_tcp_visitors, &call->node);
    else
        tern_tcp_dial_is_late(call);
}

static void heed_deadlines(uint64_t now)
{
    for (struct tern_tcp_call *call = tern_tcp_connecting_dial_after(NULL), *next; call;
         call = next) {
        next = tern_tcp_connecting_dial_after(call);
        if (call->deadline_ms && now > call->deadline_ms) {
            heed_deadline(call);
            /* a visitor that becomes a link ends calls of ours */
            next = tern_tcp_connecting_dial_after(NULL);
        } else if (tern_tcp_accept_waits(call)) {
            tern_tcp_accept_go_on(call); /* it may be judged by now */
        }
    }
}

/* Sets the timer, so that sleeping ranks continue in time. Without the timer they would continue
 * after a tenth of a second. */
static void set_clock(uint64_t now)
{
    uint64_t due_ms = tern_tcp_searches_due_ms(now);
    if (reception.door_due_ms && (!due_ms || reception.door_due_ms < due_ms))
        due_ms = reception.door_due_ms;
    if (due_ms == reception.clock_ms)
        return;
    struct itimerspec time = {.it_value = {.tv_sec = (time_t)(due_ms / 1000),
                                           .tv_nsec = (long)(due_ms % 1000) * 1000000}};
    timerfd_settime(reception.clock, TFD_TIMER_ABSTIME, &time, NULL);
    reception.clock_ms = due_ms;
}

/* Handles events of a connection. If it was closed meanwhile, because another replaced it, it is no
 * longer in the list. */
static int go_on_with(const void *what)
{
    for (struct tern_tcp_call *call = tern_tcp_connecting_dial_after(NULL); call;
         call = tern_tcp_connecting_dial_after(call))
        if (call == what) {
            go_on(call);
            return 1;
        }
    return 0;
}

static int progress(void)
{
    struct epoll_event events[EVENTS];
    uint64_t now = tern_tcp_now_ms();
    reception.away_ms = reception.looked_ms ? now - reception.looked_ms : 0;
    reception.looked_ms = now;
    bool visitors = false;
    if (reception.door_due_ms && now >= reception.door_due_ms &&
        watch(tern_tcp_door.fd, EPOLLIN, NULL, EPOLL_CTL_ADD))
        reception.door_due_ms = 0;
    int count = 0, n = epoll_wait(reception.epoll, events, EVENTS, 0);
    for (int i = 0; i < n; i++) {
        if (!events[i].data.ptr)
            visitors = true;
        else if (events[i].data.ptr == &reception.clock)
            reception.clock_ms = 1; /* expired: set_clock sets it again */
        else if (events[i].data.ptr == &reception.launcher)
            heed_launcher();
        else
            count += go_on_with(events[i].data.ptr);
    }
    if (visitors) /* last: a peer that we have reached need not be accepted */
        count += tern_tcp_accept_receive(now);
    count += tern_tcp_searches_go_on(now);
    heed_deadlines(now);
    set_clock(now);
    return count;
}

int tern_tcp_connecting_progress(void)
{
    if (!reception.open || pthread_mutex_trylock(&reception.lock))
        return 0;
    int count = progress();
    pthread_mutex_unlock(&reception.lock);
    return count;
}

/* ---- opening and closing ---- */

int tern_tcp_connecting_announce(void)
{
    tern_tcp_silence_set_limit((int)tern_param_int("btl_tcp_timeout"));
    tern_tcp_choose_congestion();
    int rc = tern_tcp_door_open();
    if (!rc)
        rc = tern_tcp_door_put();
    reception.announced = !rc;
    return rc;
}

/* Returns how many visitors may wait at the same time. The rest of the descriptors is for the job's
 * own connections and for the program's files. */
static int most_visitors(void)
{
    struct rlimit files;
    rlim_t part = getrlimit(RLIMIT_NOFILE, &files) ? 0 : files.rlim_cur / VISITORS_PART;
    return part < VISITORS_MAX ? (int)part : VISITORS_MAX;
}

int tern_tcp_connecting_open(void)
{
    tern_tcp_socket_init();
    int rc = tern_tcp_sealed_wanted() ? tern_cipher_check() : 0;
    if (!rc && !reception.announced)
        rc = tern_tcp_connecting_announce();
    if (rc)
        return rc;
    reception.epoll = epoll_create1(EPOLL_CLOEXEC);
    reception.clock = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (reception.epoll < 0 || reception.clock < 0 ||
        !watch(tern_tcp_door.fd, EPOLLIN, NULL, EPOLL_CTL_ADD) ||
        !watch(reception.clock, EPOLLIN, &reception.clock, EPOLL_CTL_ADD))
        return tern_error(TERN_ERR_OTHER, "epoll: %s", strerror(errno));
    watch_launcher();
    reception.visitors_max = most_visitors();
    reception.open = true;
    return tern_doorbell_watch(reception.epoll);
}

bool tern_tcp_connecting_is_open(void)
{
    return reception.open;
}

/* Accepted connections stay until we come back: a peer that was answered may have a link by now,
 * and may have sent through it. */
void tern_tcp_connecting_hang_up(void)
{
    pthread_mutex_lock(&reception.lock);
    for (struct tern_list_node *at = reception.calls.next, *next; at != &reception.calls;
         at = next) {
        next = at->next;
        if (!is_visitor(call_at(at)))
            tern_tcp_connecting_end_dial(call_at(at));
    }
    tern_tcp_searches_pause();
    pthread_mutex_unlock(&reception.lock);
}

void tern_tcp_connecting_close(void)
{
    tern_tcp_connecting_hang_up();
    while (!tern_list_empty(&reception.calls))
        tern_tcp_connecting_end_dial(call_at(reception.calls.next));
    if (reception.open)
        tern_doorbell_unwatch(reception.epoll);
    if (reception.epoll >= 0)
        close(reception.epoll);
    if (reception.clock >= 0)
        close(reception.clock);
    tern_tcp_searches_free();
    reception.epoll = reception.clock = reception.launcher = -1;
    reception.clock_ms = reception.looked_ms = reception.door_due_ms = 0;
    reception.open = reception.announced = false;
}
