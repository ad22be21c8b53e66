/* SPDX-License-Identifier: BSD-3-Clause */

/* Outgoing connections (calls): connect, send the hello, read the answer, confirm. */

#include "lib/btl/tcp/dial.h"

#include "lib/btl/secret.h"
#include "lib/btl/tcp/clock.h"
#include "lib/btl/tcp/listener.h"
#include "lib/btl/tcp/sealed.h"
#include "lib/btl/tcp/socket.h"
#include "lib/rte/jobs.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    /* for the system's connect; the answer may take as long as the peer computes */
    CONNECT_MS = 10 * 1000,
    /* for the peer's system: the first packet, and one repetition after a second */
    PROBE_MS = 1500,
    /* likewise, if the peer has given up calling us: then it is in MPI and accepts calls */
    LAST_MS = 2500,
    /* an older answer is not used; the called end waits twice as long for the confirmation */
    STALE_MS = 30 * 1000,
};

/* Other ports to try, as distances from the peer's port. If a port's queue is full, the system
 * drops connections silently, as a broken network does. At its other ports the system answers, if
 * only with a refusal. These ports may belong to other ranks with full queues, but that both do is
 * less likely. */
static const uint16_t probes[] = {1, 64};
enum { PROBES = sizeof probes / sizeof *probes };

/* Ends a call that has failed; `reason` is for people. Frees the call. */
static void miss(struct tern_tcp_call *call, enum tern_tcp_miss how, const char *reason)
{
    if (call->link == 0)
        tern_tcp_search_missed(call->contact, call->pair, how, reason);
    tern_tcp_connecting_end_dial(call);
}

static void fail_to_connect(struct tern_tcp_call *call, int error)
{
    bool no_way = error == EHOSTUNREACH || error == ENETUNREACH || error == ETIMEDOUT;
    miss(call, no_way ? TERN_TCP_NO_WAY : TERN_TCP_REFUSED, strerror(error));
}

/* Connects to the peer's port plus `probe`; 0: to the peer's own port. */
static int open_socket(struct tern_tcp_call *call, uint16_t probe)
{
    const struct tern_tcp_address *theirs = tern_tcp_search_address(call->contact, call->pair);
    struct sockaddr_storage address;
    call->fd = socket(theirs->family == 4 ? AF_INET : AF_INET6,
                      SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (call->fd < 0)
        return -1;
    tern_tcp_set_options(call->fd, tern_process_is_here(call->contact->process.job,
                                                        call->contact->process.rank));
    if (call->pair->own >= 0) { /* a failure shows in connect */
        socklen_t size = tern_tcp_sockaddr(&tern_tcp_door.own[call->pair->own], 0, &address);
        setsockopt(call->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int){1}, sizeof(int));
        (void)!bind(call->fd, (struct sockaddr *)&address, size);
    }
    socklen_t size = tern_tcp_sockaddr(theirs, theirs->port ^ probe, &address);
    return connect(call->fd, (struct sockaddr *)&address, size) && errno != EINPROGRESS ? -1 : 0;
}

void tern_tcp_dial(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair,
                   uint8_t index)
{
    struct tern_tcp_call *call = calloc(1, sizeof *call);
    if (!call)
        return;
    call->contact = contact;
    call->far = contact->process.job &&
                tern_job_pair_secret(contact->process.job, contact->process.rank, true,
                                     call->secret);
    call->pair = pair;
    call->link = index;
    call->step = TERN_TCP_CONNECTING;
    call->deadline_ms = tern_tcp_now_ms() + (contact->they_gave_up ? LAST_MS : CONNECT_MS);
    int error = open_socket(call, 0) ? errno : 0;
    if (!tern_tcp_connecting_dial(call, EPOLLOUT) && !error)
        error = errno;
    if (error)
        fail_to_connect(call, error);
}

/* Tries the next other port of the peer's host. Returns false if all were tried. */
static bool probe_next(struct tern_tcp_call *call)
{
    if (call->probes == PROBES || call->link != 0 || call->contact->they_gave_up)
        return false;
    if (call->fd >= 0)
        close(call->fd);
    call->step = TERN_TCP_PROBING;
    call->deadline_ms = tern_tcp_now_ms() + PROBE_MS;
    return open_socket(call, probes[call->probes++]) == 0 &&
           tern_tcp_connecting_watch(call, EPOLLOUT);
}

void tern_tcp_dial_is_the_last(struct tern_tcp_call *call)
{
    uint64_t deadline_ms = tern_tcp_now_ms() + LAST_MS;
    bool unanswered = call->step == TERN_TCP_CONNECTING || call->step == TERN_TCP_PROBING;
    if (unanswered && call->deadline_ms > deadline_ms)
        call->deadline_ms = deadline_ms;
}

void tern_tcp_dial_is_late(struct tern_tcp_call *call)
{
    if (!probe_next(call))
        fail_to_connect(call, ETIMEDOUT);
}

/* Returns the result of connect: 0 or errno. */
static int connect_error(const struct tern_tcp_call *call)
{
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(call->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

static void heed_probe(struct tern_tcp_call *call)
{
    int error = connect_error(call);
    if (error == 0 || error == ECONNREFUSED)
        miss(call, TERN_TCP_CROWDED,
             "no answer, although other ports of that host answer: too many connections are "
             "waiting there");
    else
        tern_tcp_dial_is_late(call);
}

static void say_hello(struct tern_tcp_call *call)
{
    int error = connect_error(call);
    struct tern_tcp_greeting greeting = {.lane = call->contact->tag,
                                         .link = call->link,
                                         .encrypt = tern_tcp_sealed_wanted(),
                                         .from = tern_rte.rank,
                                         .to = call->contact->process.rank,
                                         .program = call->far ? 0 : tern_rte_program()};
    if (error == ETIMEDOUT) {
        tern_tcp_dial_is_late(call);
        return;
    }
    if (error) {
        fail_to_connect(call, error);
        return;
    }
    if (call->far)
        tern_tcp_greet_far(&call->hello, greeting, tern_job_id_of(0),
                           tern_job_id_of(call->contact->process.job));
    else
        tern_tcp_greet(&call->hello, greeting, tern_rte.job);
    call->hello.reached = tern_handshake_reached(call->fd);
    if (tern_hello_seal(&call->hello, &tern_tcp_service, tern_tcp_dial_secret(call))) {
        miss(call, TERN_TCP_REFUSED, tern_error_text(TERN_ERR_OTHER));
        return;
    }
    if (!tern_handshake_write(call->fd, &call->hello, sizeof call->hello) ||
        !tern_tcp_connecting_watch(call, EPOLLIN)) {
        miss(call, TERN_TCP_CLOSED, strerror(errno));
        return;
    }
    call->step = TERN_TCP_AWAITING_ANSWER;
    call->deadline_ms = 0;
    call->contact->connecting--;
    if (call->link == 0)
        tern_tcp_search_connected(call->contact, call->pair);
}

static void confirm(struct tern_tcp_call *call)
{
    /* the other end may have given up waiting for the confirmation */
    if (tern_tcp_away_ms() > STALE_MS) {
        if (call->link == 0)
            tern_tcp_search_repeat(call->contact, call->pair);
        tern_tcp_connecting_end_dial(call);
        return;
    }
    if (tern_confirm_seal(&call->confirm, &call->hello, &call->answer,
                          tern_tcp_dial_secret(call)) ||
        !tern_handshake_write(call->fd, &call->confirm, sizeof call->confirm)) {
        miss(call, TERN_TCP_CLOSED, strerror(errno));
        return;
    }
    struct tern_tcp_contact *contact = call->contact;
    const struct tern_tcp_pair *pair = call->link == 0 ? call->pair : NULL;
    tern_tcp_connecting_hand_over(call);
    if (pair && contact->links & 1)
        tern_tcp_search_widen(contact, pair);
}

/* Handles a complete answer. */
static void heed_answer(struct tern_tcp_call *call)
{
    char reason[64];
    if (!tern_answer_holds(&call->answer, &call->hello, tern_tcp_dial_secret(call))) {
        miss(call, TERN_TCP_REFUSED, "the program that listens there does not know this job's "
                                     "secret");
        return;
    }
    switch (call->answer.verdict) {
    case TERN_TCP_WELCOME:
        confirm(call);
        break;
    case TERN_TCP_WRONG_RANK:
        snprintf(reason, sizeof reason, "rank %u answers at this address", call->answer.number);
        miss(call, TERN_TCP_REFUSED, reason);
        break;
    case TERN_TCP_CROSSED:
        if (call->link == 0)
            tern_tcp_search_crossed(call->contact, call->pair);
        tern_tcp_connecting_end_dial(call);
        break;
    case TERN_TCP_WRONG_PROGRAM:
        if (call->link == 0)
            tern_tcp_search_runs(call->contact, call->answer.number);
        tern_tcp_connecting_end_dial(call);
        break;
    case TERN_TCP_RELAYED:
        miss(call, TERN_TCP_REFUSED,
             "a relay there passes connections on to the rank, and could read and change the "
             "messages. To permit relays, set btl_tcp_encrypt to 1: then messages are encrypted");
        break;
    case TERN_TCP_UNLIKE:
        if (call->link == 0)
            tern_tcp_search_differs(call->contact, "btl_tcp_encrypt", tern_tcp_sealed_wanted(),
                                     call->answer.number);
        tern_tcp_connecting_end_dial(call);
        break;
    default:
        miss(call, TERN_TCP_REFUSED, "its answer is not valid");
    }
}

void tern_tcp_dial_go_on(struct tern_tcp_call *call)
{
    if (call->step == TERN_TCP_CONNECTING) {
        say_hello(call);
        return;
    }
    if (call->step == TERN_TCP_PROBING) {
        heed_probe(call);
        return;
    }
    switch (tern_handshake_read(call->fd, &call->answer, sizeof call->answer, &call->got)) {
    case TERN_PART:
        break;
    case TERN_WHOLE:
        heed_answer(call);
        break;
    case TERN_ENDED:
        miss(call, TERN_TCP_CLOSED,
             errno ? strerror(errno)
                   : "the program that listens there closed the connection without an answer");
    }
}
