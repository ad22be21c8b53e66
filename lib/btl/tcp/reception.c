/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/reception.h"

#include "lib/btl/doorbell.h"
#include "lib/btl/tcp/call.h"
#include "lib/btl/tcp/congestion.h"
#include "lib/btl/tcp/door.h"
#include "lib/btl/tcp/silence.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/param.h"

#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    VISITORS_MAX = 256, /* that have not said hello; the oldest goes */
    HOST_SNDBUF = 256 * 1024,
    EVENTS = 32,
};

static struct {
    pthread_mutex_t lock;
    bool open, announced;
    int epoll; /* of the door, of all calls, of the clock, and of the launcher's answers */
    int launcher; /* what they come by; -1: nothing to be watched */
    int clock; /* wakes who sleeps when the next address is to be tried */
    uint64_t clock_ms; /* is set to this time; 0: not */
    struct tern_link calls;
    int visitors;
    int sndbuf, rcvbuf;
} reception = {.lock = PTHREAD_MUTEX_INITIALIZER, .epoll = -1, .launcher = -1, .clock = -1, .calls = {&reception.calls, &reception.calls}};

uint64_t tern_tcp_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- calls, of ours and of visitors ---- */

static struct tern_tcp_call *call_at(struct tern_link *link)
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

/* Another one than before when this process has been away; the old one has been closed. */
static void watch_launcher(void)
{
    reception.launcher = tern_rte_fd();
    if (reception.launcher >= 0)
        watch(reception.launcher, EPOLLIN, &reception.launcher, EPOLL_CTL_ADD);
}

static void heed_launcher(void)
{
    if (!tern_rte_attend()) /* it has gone; its guardian will end us */
        epoll_ctl(reception.epoll, EPOLL_CTL_DEL, reception.launcher, NULL);
}

static void drop_oldest_visitor(void)
{
    for (struct tern_link *at = reception.calls.next; at != &reception.calls; at = at->next)
        if (call_at(at)->step == TERN_TCP_AWAITING_HELLO) {
            tern_tcp_call_close(call_at(at));
            return;
        }
}

bool tern_tcp_call_begin(struct tern_tcp_call *call, uint32_t events)
{
    if (is_visitor(call) && ++reception.visitors > VISITORS_MAX)
        drop_oldest_visitor();
    if (!is_visitor(call))
        call->contact->calls++;
    tern_list_append(&reception.calls, &call->node);
    return watch(call->fd, events, call, EPOLL_CTL_ADD);
}

bool tern_tcp_call_watch(struct tern_tcp_call *call, uint32_t events)
{
    return watch(call->fd, events, call, EPOLL_CTL_MOD);
}

void tern_tcp_call_close(struct tern_tcp_call *call)
{
    if (is_visitor(call)) {
        reception.visitors--;
        if (call->contact)
            call->contact->arriving--;
    } else {
        call->contact->calls--;
    }
    if (call->fd >= 0)
        close(call->fd); /* leaves the epoll by that */
    tern_list_remove(&call->node);
    free(call);
}

/* Our calls to a contact for the first link, other than `but`. */
static void cancel_calls(const struct tern_tcp_contact *contact, const struct tern_tcp_call *but)
{
    for (struct tern_link *at = reception.calls.next, *next; at != &reception.calls; at = next) {
        next = at->next;
        struct tern_tcp_call *call = call_at(at);
        if (call != but && call->contact == contact && !is_visitor(call) && call->link == 0)
            tern_tcp_call_close(call);
    }
}

void tern_tcp_call_hand_over(struct tern_tcp_call *call)
{
    struct tern_tcp_contact *contact = call->contact;
    uint8_t bit = (uint8_t)(1u << call->link);
    struct tern_tcp_link *link =
        contact->links & bit ? NULL
                             : tern_tcp_link_new(call->fd, contact->rank, contact->tag, call->link);
    if (link) {
        epoll_ctl(reception.epoll, EPOLL_CTL_DEL, call->fd, NULL);
        tern_tcp_silence_begin(call->fd);
        call->fd = -1;
        contact->links |= bit;
        if (call->link == 0) {
            cancel_calls(contact, call);
            tern_tcp_contact_found(contact);
        }
        tern_tcp_arrive(link);
    }
    tern_tcp_call_close(call);
}

void tern_tcp_set_options(int fd, bool same_host)
{
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    tern_tcp_silence_watch(fd);
    tern_tcp_set_congestion(fd, same_host);
    /* within a host nothing is on its way for long, and what is written stays in the cache until it is read */
    int sndbuf = reception.sndbuf ? reception.sndbuf : same_host ? HOST_SNDBUF : 0;
    if (sndbuf)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(int));
    if (reception.rcvbuf)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &reception.rcvbuf, sizeof(int));
}

/* ---- what lanes want ---- */

int tern_tcp_reception_call(uint32_t rank, uint8_t tag)
{
    pthread_mutex_lock(&reception.lock);
    struct tern_tcp_contact *contact = tern_tcp_contact_of(rank, tag);
    int rc = contact ? tern_tcp_contact_seek(contact)
                     : tern_error(TERN_ERR_NO_MEM, "no memory to connect to rank %u", rank);
    pthread_mutex_unlock(&reception.lock);
    return rc;
}

void tern_tcp_reception_ended(uint32_t rank, uint8_t tag, uint8_t index)
{
    pthread_mutex_lock(&reception.lock);
    struct tern_tcp_contact *contact = tern_tcp_contact_of(rank, tag);
    if (contact)
        contact->links &= (uint8_t)~(1u << index);
    pthread_mutex_unlock(&reception.lock);
}

int tern_tcp_reception_publish(void)
{
    pthread_mutex_lock(&reception.lock);
    watch_launcher();
    int rc = tern_tcp_door_publish();
    pthread_mutex_unlock(&reception.lock);
    return rc;
}

/* ---- progress ---- */

static void go_on(struct tern_tcp_call *call)
{
    if (is_visitor(call))
        tern_tcp_visit_go_on(call);
    else
        tern_tcp_call_go_on(call);
}

static void heed_deadlines(uint64_t now)
{
    for (struct tern_link *at = reception.calls.next, *next; at != &reception.calls; at = next) {
        next = at->next;
        struct tern_tcp_call *call = call_at(at);
        if (tern_tcp_visit_waits(call))
            go_on(call); /* the secret may be there now */
        else if (call->deadline_ms && now > call->deadline_ms && is_visitor(call))
            tern_tcp_call_close(call);
        else if (call->deadline_ms && now > call->deadline_ms)
            tern_tcp_call_fail(call, ETIMEDOUT, NULL);
    }
}

/* So that sleeping ranks go on in time; without the clock they would after a tenth of a second. */
static void set_clock(uint64_t now)
{
    uint64_t due_ms = tern_tcp_contacts_due_ms();
    if (due_ms <= now)
        due_ms = 0; /* it waits for something else */
    if (due_ms == reception.clock_ms)
        return;
    struct itimerspec time = {.it_value = {.tv_sec = (time_t)(due_ms / 1000),
                                           .tv_nsec = (long)(due_ms % 1000) * 1000000}};
    timerfd_settime(reception.clock, TFD_TIMER_ABSTIME, &time, NULL);
    reception.clock_ms = due_ms;
}

static int progress(void)
{
    struct epoll_event events[EVENTS];
    uint64_t now = tern_tcp_now_ms();
    int count = 0, n = epoll_wait(reception.epoll, events, EVENTS, 0);
    for (int i = 0; i < n; i++) {
        if (!events[i].data.ptr)
            count += tern_tcp_visitors_receive(now);
        else if (events[i].data.ptr == &reception.clock)
            reception.clock_ms = 1; /* over: whatever is set next ends it */
        else if (events[i].data.ptr == &reception.launcher)
            heed_launcher();
    }
    for (int i = 0; i < n; i++) {
        /* one that is closed meanwhile, as it was superseded, is in the list no more */
        for (struct tern_link *at = reception.calls.next; at != &reception.calls; at = at->next)
            if (call_at(at) == events[i].data.ptr) {
                go_on(call_at(at));
                count++;
                break;
            }
    }
    count += tern_tcp_contacts_go_on(now);
    heed_deadlines(now);
    set_clock(now);
    return count;
}

int tern_tcp_reception_progress(void)
{
    if (!reception.open || pthread_mutex_trylock(&reception.lock))
        return 0;
    int count = progress();
    pthread_mutex_unlock(&reception.lock);
    return count;
}

/* ---- opening and closing ---- */

int tern_tcp_reception_announce(void)
{
    int64_t timeout_s = tern_param_int("btl_tcp_timeout");
    if (timeout_s < 1 || timeout_s > 24 * 3600)
        return tern_error(TERN_ERR_ARG, "btl_tcp_timeout is %ld; expected 1 to 86400 seconds",
                          (long)timeout_s);
    tern_tcp_silence_set_limit((int)timeout_s);
    tern_tcp_choose_congestion();
    int rc = tern_tcp_door_open();
    if (!rc)
        rc = tern_tcp_door_publish();
    reception.announced = !rc;
    return rc;
}

int tern_tcp_reception_open(void)
{
    int64_t links = tern_param_int("btl_tcp_links");
    int64_t sndbuf = tern_param_int("btl_tcp_sndbuf");
    reception.sndbuf = sndbuf > INT_MAX ? INT_MAX : (int)sndbuf;
    reception.rcvbuf = tern_tcp_rcvbuf();
    if (links < 1 || links > TERN_TCP_LINKS_MAX)
        return tern_error(TERN_ERR_ARG, "btl_tcp_links is %ld; expected 1 to %d", (long)links,
                          TERN_TCP_LINKS_MAX);
    int rc = reception.announced ? 0 : tern_tcp_reception_announce();
    if (rc)
        return rc;
    reception.epoll = epoll_create1(EPOLL_CLOEXEC);
    reception.clock = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (reception.epoll < 0 || reception.clock < 0 ||
        !watch(tern_tcp_door.fd, EPOLLIN, NULL, EPOLL_CTL_ADD) ||
        !watch(reception.clock, EPOLLIN, &reception.clock, EPOLL_CTL_ADD))
        return tern_error(TERN_ERR_OTHER, "epoll: %s", strerror(errno));
    watch_launcher();
    reception.open = true;
    return tern_doorbell_watch(reception.epoll);
}

/* Visitors wait until we are back: one who was welcomed may have a link by now, and have sent by it. */
void tern_tcp_reception_hang_up(void)
{
    pthread_mutex_lock(&reception.lock);
    for (struct tern_link *at = reception.calls.next, *next; at != &reception.calls; at = next) {
        next = at->next;
        if (!is_visitor(call_at(at)))
            tern_tcp_call_close(call_at(at));
    }
    tern_tcp_contacts_pause();
    pthread_mutex_unlock(&reception.lock);
}

void tern_tcp_reception_close(void)
{
    tern_tcp_reception_hang_up();
    while (!tern_list_empty(&reception.calls))
        tern_tcp_call_close(call_at(reception.calls.next));
    if (reception.open)
        tern_doorbell_unwatch(reception.epoll);
    if (reception.epoll >= 0)
        close(reception.epoll);
    if (reception.clock >= 0)
        close(reception.clock);
    tern_tcp_contacts_free();
    reception.epoll = reception.clock = reception.launcher = -1;
    reception.clock_ms = 0;
    reception.open = reception.announced = false;
}
