/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Accepted connections (visitors): any process may connect to our port. Until a visitor has proved
 * itself its bytes are compared, never interpreted. One that cannot prove itself gets no answer;
 * one line in all is printed about such visitors.
 *
 * Strangers must not keep out the ranks of the job. A visitor is read as soon as it is accepted,
 * and once more before it is closed for lack of time or room. Nothing depends on a visitor that has
 * only sent a hello, because a stranger may have recorded that hello elsewhere: the visitor must
 * also confirm. It may confirm for twice as long as the caller uses an answer (STALE_MS in dial.c).
 * So we never close a connection that has just become a link at the caller's end.
 */

#include "lib/btl/secret.h"
#include "lib/btl/tcp/clock.h"
#include "lib/btl/tcp/dial.h"

#include "lib/btl/tcp/listener.h"
#include "lib/btl/tcp/sealed.h"
#include "lib/btl/tcp/socket.h"
#include "lib/rte/jobs.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/base/scarcity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    HELLO_MS = 60 * 1000,
    CONFIRM_MS = 60 * 1000,
    /* visitors of one peer: enough for its addresses and links, whatever number of its hellos a
     * stranger has recorded */
    ARRIVING_MOST = 16,
};

static void warn_once(const struct tern_tcp_call *visit, const char *what)
{
    char from[TERN_TCP_TEXT], text[TERN_TCP_TEXT + 100];
    snprintf(text, sizeof text, "closed a connection from %s: it %s (this message is printed once)",
             tern_tcp_sockaddr_text(&visit->from, from), what);
    tern_rte_remark(TERN_REMARK_STRANGER, text);
}

/* Ends the visit. */
static bool leave(struct tern_tcp_call *visit)
{
    tern_tcp_connecting_end_dial(visit);
    return false;
}

static bool refuse(struct tern_tcp_call *visit, const char *what)
{
    warn_once(visit, what);
    return leave(visit);
}

/* Decides whether we want this link. */
static enum tern_tcp_verdict judge(const struct tern_tcp_call *visit,
                                   const struct tern_tcp_greeting *greeting,
                                   const struct tern_tcp_contact *contact)
{
    if (greeting->encrypt != tern_tcp_sealed_wanted())
        return TERN_TCP_UNLIKE;
    if (!greeting->encrypt && !tern_hello_is_direct(&visit->hello, visit->fd))
        return TERN_TCP_RELAYED;
    if (!visit->far && greeting->program != tern_rte_program())
        return TERN_TCP_WRONG_PROGRAM;
    if (contact->links & 1u << greeting->link)
        return TERN_TCP_CROSSED;
    if (greeting->link == 0 && tern_tcp_search_is_called(contact) &&
        tern_process_comes_first(contact->process.job, contact->process.rank))
        return TERN_TCP_CROSSED;
    return TERN_TCP_WELCOME;
}

/* Answers a hello that belongs to process `greeting->from` of the job. If we do not answer, the
 * caller connects again, with another hello. */
static bool answer(struct tern_tcp_call *visit, uint32_t job,
                   const struct tern_tcp_greeting *greeting, const unsigned char *secret)
{
    bool mine = greeting->to == tern_rte.rank;
    struct tern_process from = {job, greeting->from};
    struct tern_tcp_contact *contact = mine ? tern_tcp_search_of(from, greeting->lane) : NULL;
    if (mine && (!contact || contact->arriving >= ARRIVING_MOST ||
                 (contact->arriving &&
                  tern_visitors_have_copy(&tern_tcp_visitors, &visit->node))))
        return leave(visit);
    visit->answer.number = tern_rte.rank;
    visit->answer.verdict = contact ? judge(visit, greeting, contact) : TERN_TCP_WRONG_RANK;
    if (visit->answer.verdict == TERN_TCP_WRONG_PROGRAM)
        visit->answer.number = tern_rte_program();
    if (visit->answer.verdict == TERN_TCP_UNLIKE)
        visit->answer.number = tern_tcp_sealed_wanted();
    if (tern_answer_seal(&visit->answer, &visit->hello, secret) ||
        !tern_handshake_write(visit->fd, &visit->answer, sizeof visit->answer) ||
        visit->answer.verdict != TERN_TCP_WELCOME)
        return leave(visit);
    tern_tcp_set_options(visit->fd, tern_process_is_here(job, greeting->from));
    visit->link = greeting->link;
    visit->deadline_ms = tern_tcp_now_ms() + CONFIRM_MS;
    visit->got = 0;
    tern_tcp_connecting_is_welcome(visit, contact);
    return true;
}

bool tern_tcp_accept_waits(const struct tern_tcp_call *visit)
{
    return visit->step == TERN_TCP_AWAITING_HELLO && visit->got == sizeof visit->hello;
}

/* Handles the hello of a process of another job. That process may have been introduced to this one
 * earlier than the reverse: then the hello waits. Nothing of it is answered before its proof
 * holds. */
static bool heed_far(struct tern_tcp_call *visit, const struct tern_tcp_greeting *greeting,
                     const struct tern_job_id *from, const struct tern_job_id *to)
{
    struct tern_job_id own = tern_job_id_of(0);
    uint32_t job;
    if (memcmp(&own, to, sizeof own) != 0)
        return refuse(visit, "does not know this job's secret");
    if (tern_hmac_load() || !tern_job_find(from, &job) ||
        !tern_job_pair_secret(job, greeting->from, false, visit->secret))
        return true;
    if (!tern_hello_holds(&visit->hello, &tern_tcp_service, visit->secret))
        return refuse(visit, "does not know this job's secret");
    visit->far = true;
    return answer(visit, job, greeting, visit->secret);
}

/* Reads the hello. A complete hello waits until the secret is known and proofs can be computed. */
static bool read_hello(struct tern_tcp_call *visit)
{
    struct tern_tcp_greeting greeting;
    enum tern_part part =
        tern_tcp_accept_waits(visit)
            ? TERN_WHOLE
            : tern_handshake_read(visit->fd, &visit->hello, sizeof visit->hello, &visit->got);
    struct tern_job_id from, to;
    if (!tern_hello_begins(&tern_tcp_service, &visit->hello, visit->got))
        return refuse(visit, "does not use this job's protocol");
    if (part == TERN_ENDED)
        return leave(visit);
    if (part == TERN_PART)
        return true;
    if (tern_tcp_greeting_read_far(&visit->hello, &greeting, &from, &to))
        return heed_far(visit, &greeting, &from, &to);
    const unsigned char *secret = tern_secret();
    if (!secret && tern_secret_drops_visitors())
        return leave(visit);
    if (!secret || tern_hmac_load())
        return true;
    if (!tern_hello_holds(&visit->hello, &tern_tcp_service, secret) ||
        !tern_tcp_greeting_read(&visit->hello, tern_rte.job, tern_rte.size, &greeting))
        return refuse(visit, "does not know this job's secret");
    return answer(visit, 0, &greeting, secret);
}

static bool read_confirm(struct tern_tcp_call *visit)
{
    switch (tern_handshake_read(visit->fd, &visit->confirm, sizeof visit->confirm, &visit->got)) {
    case TERN_PART:
        return true;
    case TERN_WHOLE:
        if (!tern_confirm_holds(&visit->confirm, &visit->hello, &visit->answer,
                                tern_tcp_dial_secret(visit)))
            return refuse(visit, "does not know this job's secret");
        tern_tcp_connecting_hand_over(visit);
        return false;
    default: /* the peer has reached us in another way */
        return leave(visit);
    }
}

bool tern_tcp_accept_go_on(struct tern_tcp_call *visit)
{
    return visit->step == TERN_TCP_AWAITING_HELLO ? read_hello(visit) : read_confirm(visit);
}

/* Accepts one connection. Returns -1 if none waits, or if none can be accepted. If descriptors or
 * memory are exhausted, closes an older visitor first. */
static int accept_one(struct sockaddr_storage *ret_from, uint64_t now_ms)
{
    for (;;) {
        socklen_t size = sizeof *ret_from;
        int fd = accept4(tern_tcp_door.fd, (struct sockaddr *)ret_from, &size,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        int error = errno;
        if (fd >= 0)
            return fd;
        if (tern_scarcity_is(error) && !tern_visitors_make_room(&tern_tcp_visitors)) {
            tern_scarcity_say(error);
            tern_tcp_connecting_rest(now_ms);
            return -1;
        }
        if (error != ECONNABORTED && error != EINTR && !tern_scarcity_is(error))
            return -1;
    }
}

static void let_in(int fd, const struct sockaddr_storage *from, uint64_t now_ms)
{
    struct tern_tcp_call *visit = calloc(1, sizeof *visit);
    if (!visit) {
        close(fd);
        return;
    }
    visit->fd = fd;
    visit->step = TERN_TCP_AWAITING_HELLO;
    visit->deadline_ms = now_ms + HELLO_MS;
    visit->from = *from;
    if (!tern_tcp_connecting_dial(visit, EPOLLIN))
        tern_tcp_connecting_end_dial(visit);
    else if (tern_tcp_accept_go_on(visit) && tern_tcp_connecting_are_many())
        tern_visitors_make_room(&tern_tcp_visitors);
}

int tern_tcp_accept_receive(uint64_t now_ms)
{
    int count = 0;
    for (; count < SOMAXCONN; count++) {
        struct sockaddr_storage from;
        int fd = accept_one(&from, now_ms);
        if (fd < 0)
            break;
        let_in(fd, &from, now_ms);
    }
    return count;
}
