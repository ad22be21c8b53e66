/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls of ours: connect, say hello, heed the answer, confirm. */

#include "lib/btl/tcp/call.h"

#include "lib/btl/tcp/door.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum { CONNECT_MS = 10 * 1000 }; /* for the system; an answer may take as long as the other one computes */

void tern_tcp_call_fail(struct tern_tcp_call *call, int error, const char *reason)
{
    if (call->link == 0)
        tern_tcp_contact_missed(call->contact, call->pair, error,
                                reason ? reason : strerror(error));
    tern_tcp_call_close(call);
}

static int open_socket(struct tern_tcp_call *call)
{
    const struct tern_tcp_address *theirs = tern_tcp_contact_address(call->contact, call->pair);
    struct sockaddr_storage address;
    call->fd = socket(theirs->family == 4 ? AF_INET : AF_INET6,
                      SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (call->fd < 0)
        return -1;
    tern_tcp_set_options(call->fd, tern_rte_local_rank(call->contact->rank) >= 0);
    if (call->pair->own >= 0) { /* a failure shows in connect */
        socklen_t size = tern_tcp_sockaddr(&tern_tcp_door.own[call->pair->own], 0, &address);
        setsockopt(call->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int){1}, sizeof(int));
        (void)!bind(call->fd, (struct sockaddr *)&address, size);
    }
    socklen_t size = tern_tcp_sockaddr(theirs, theirs->port, &address);
    return connect(call->fd, (struct sockaddr *)&address, size) && errno != EINPROGRESS ? -1 : 0;
}

void tern_tcp_call(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair,
                   uint8_t index)
{
    struct tern_tcp_call *call = calloc(1, sizeof *call);
    if (!call)
        return;
    call->contact = contact;
    call->pair = pair;
    call->link = index;
    call->step = TERN_TCP_CONNECTING;
    call->deadline_ms = tern_tcp_now_ms() + CONNECT_MS;
    int error = open_socket(call) ? errno : 0;
    if (!tern_tcp_call_begin(call, EPOLLOUT) && !error)
        error = errno;
    if (error)
        tern_tcp_call_fail(call, error, NULL);
}

static void say_hello(struct tern_tcp_call *call)
{
    int error = 0;
    socklen_t size = sizeof error;
    struct tern_tcp_greeting greeting = {.lane = call->contact->tag,
                                         .link = call->link,
                                         .from = tern_rte.rank,
                                         .to = call->contact->rank,
                                         .program = tern_rte_program()};
    getsockopt(call->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) {
        tern_tcp_call_fail(call, error, NULL);
        return;
    }
    tern_tcp_greet(&call->hello, greeting, tern_rte.job);
    if (tern_hello_seal(&call->hello, &tern_tcp_service, tern_tcp_secret())) {
        tern_tcp_call_fail(call, 0, tern_error_text(TERN_ERR_OTHER));
        return;
    }
    if (!tern_handshake_write(call->fd, &call->hello, sizeof call->hello) ||
        !tern_tcp_call_watch(call, EPOLLIN)) {
        tern_tcp_call_fail(call, errno, NULL);
        return;
    }
    call->step = TERN_TCP_AWAITING_ANSWER;
    call->deadline_ms = 0;
    if (call->link == 0)
        tern_tcp_contact_connected(call->contact);
}

static void confirm(struct tern_tcp_call *call)
{
    if (tern_confirm_seal(&call->confirm, &call->hello, &call->answer, tern_tcp_secret()) ||
        !tern_handshake_write(call->fd, &call->confirm, sizeof call->confirm)) {
        tern_tcp_call_fail(call, errno, NULL);
        return;
    }
    struct tern_tcp_contact *contact = call->contact;
    const struct tern_tcp_pair *pair = call->link == 0 ? call->pair : NULL;
    tern_tcp_call_hand_over(call);
    if (pair && contact->links & 1)
        tern_tcp_contact_widen(contact, pair);
}

/* An answer is whole. */
static void heed_answer(struct tern_tcp_call *call)
{
    char reason[64];
    if (!tern_answer_holds(&call->answer, &call->hello, tern_tcp_secret())) {
        tern_tcp_call_fail(call, 0, "what listens there does not know this job's secret");
        return;
    }
    switch (call->answer.verdict) {
    case TERN_TCP_WELCOME:
        confirm(call);
        break;
    case TERN_TCP_WRONG_RANK:
        snprintf(reason, sizeof reason, "that is rank %u", call->answer.number);
        tern_tcp_call_fail(call, 0, reason);
        break;
    case TERN_TCP_CROSSED:
        if (call->link == 0)
            tern_tcp_contact_crossed(call->contact);
        tern_tcp_call_close(call);
        break;
    case TERN_TCP_WRONG_PROGRAM:
        if (call->link == 0)
            tern_tcp_contact_runs(call->contact, call->answer.number);
        tern_tcp_call_close(call);
        break;
    default:
        tern_tcp_call_fail(call, 0, "its answer is of no kind that there is");
    }
}

void tern_tcp_call_go_on(struct tern_tcp_call *call)
{
    if (call->step == TERN_TCP_CONNECTING) {
        say_hello(call);
        return;
    }
    switch (tern_handshake_read(call->fd, &call->answer, sizeof call->answer, &call->got)) {
    case TERN_PART:
        break;
    case TERN_WHOLE:
        heed_answer(call);
        break;
    case TERN_ENDED:
        tern_tcp_call_fail(call, errno, errno ? NULL : "what listens there is not of this job");
    }
}
