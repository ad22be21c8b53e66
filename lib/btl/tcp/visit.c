/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Visitors: whoever connects to our door. Until one has proved itself its bytes are compared, never interpreted; who cannot
 * gets no answer, and one line is printed in all.
 */

#include "lib/btl/tcp/call.h"

#include "lib/btl/tcp/door.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { VISIT_MS = 60 * 1000 }; /* to say hello */

static void warn_once(const struct tern_tcp_call *visit, const char *what)
{
    char from[TERN_TCP_TEXT], text[TERN_TCP_TEXT + 100];
    snprintf(text, sizeof text, "a connection from %s %s: closed (this is said once)",
             tern_tcp_sockaddr_text(&visit->from, from), what);
    tern_rte_remark(TERN_REMARK_STRANGER, text);
}

static void refuse(struct tern_tcp_call *visit, const char *what)
{
    warn_once(visit, what);
    tern_tcp_call_close(visit);
}

/* Is a link wanted, as seen from here? */
static enum tern_tcp_verdict judge(const struct tern_tcp_greeting *greeting,
                                   const struct tern_tcp_contact *contact)
{
    if (greeting->program != tern_rte_program())
        return TERN_TCP_WRONG_PROGRAM;
    if (contact->links & 1u << greeting->link)
        return TERN_TCP_CROSSED;
    if (greeting->link == 0 && tern_tcp_contact_is_called(contact) &&
        tern_rte.rank < greeting->from)
        return TERN_TCP_CROSSED;
    return TERN_TCP_WELCOME;
}

static void heed_hello(struct tern_tcp_call *visit, const unsigned char *secret)
{
    struct tern_tcp_greeting greeting;
    if (!tern_hello_holds(&visit->hello, &tern_tcp_service, secret) ||
        !tern_tcp_greeting_read(&visit->hello, tern_rte.job, tern_rte.size, &greeting)) {
        refuse(visit, "does not know this job's secret");
        return;
    }
    bool mine = greeting.to == tern_rte.rank;
    struct tern_tcp_contact *contact =
        mine ? tern_tcp_contact_of(greeting.from, greeting.lane) : NULL;
    visit->answer.number = tern_rte.rank;
    visit->answer.verdict = contact ? judge(&greeting, contact) : TERN_TCP_WRONG_RANK;
    if (visit->answer.verdict == TERN_TCP_WRONG_PROGRAM)
        visit->answer.number = tern_rte_program();
    if ((mine && !contact) || tern_answer_seal(&visit->answer, &visit->hello, secret) ||
        !tern_handshake_write(visit->fd, &visit->answer, sizeof visit->answer) ||
        visit->answer.verdict != TERN_TCP_WELCOME) {
        tern_tcp_call_close(visit);
        return;
    }
    tern_tcp_set_options(visit->fd, tern_rte_local_rank(greeting.from) >= 0);
    visit->contact = contact;
    visit->link = greeting.link;
    contact->arriving++;
    visit->step = TERN_TCP_AWAITING_CONFIRM;
    visit->deadline_ms = 0;
    visit->got = 0;
}

bool tern_tcp_visit_waits(const struct tern_tcp_call *visit)
{
    return visit->step == TERN_TCP_AWAITING_HELLO && visit->got == sizeof visit->hello;
}

/* A visitor whose whole hello is there waits until the secret is. */
static void read_hello(struct tern_tcp_call *visit)
{
    enum tern_part part =
        tern_tcp_visit_waits(visit)
            ? TERN_WHOLE
            : tern_handshake_read(visit->fd, &visit->hello, sizeof visit->hello, &visit->got);
    const unsigned char *secret = part == TERN_WHOLE ? tern_tcp_secret() : NULL;
    if (!tern_hello_begins(&tern_tcp_service, &visit->hello, visit->got))
        refuse(visit, "speaks another language");
    else if (part == TERN_ENDED)
        tern_tcp_call_close(visit);
    else if (secret)
        heed_hello(visit, secret);
}

static void read_confirm(struct tern_tcp_call *visit)
{
    switch (tern_handshake_read(visit->fd, &visit->confirm, sizeof visit->confirm, &visit->got)) {
    case TERN_PART:
        break;
    case TERN_WHOLE:
        if (tern_confirm_holds(&visit->confirm, &visit->hello, &visit->answer, tern_tcp_secret()))
            tern_tcp_call_hand_over(visit);
        else
            refuse(visit, "does not know this job's secret");
        break;
    case TERN_ENDED: /* it has found another way to us */
        tern_tcp_call_close(visit);
    }
}

void tern_tcp_visit_go_on(struct tern_tcp_call *visit)
{
    if (visit->step == TERN_TCP_AWAITING_HELLO)
        read_hello(visit);
    else
        read_confirm(visit);
}

int tern_tcp_visitors_receive(uint64_t now_ms)
{
    for (int count = 0;; count++) {
        struct sockaddr_storage from;
        socklen_t size = sizeof from;
        int fd = accept4(tern_tcp_door.fd, (struct sockaddr *)&from, &size,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return count;
        struct tern_tcp_call *visit = calloc(1, sizeof *visit);
        if (!visit) {
            close(fd);
            return count;
        }
        visit->fd = fd;
        visit->step = TERN_TCP_AWAITING_HELLO;
        visit->deadline_ms = now_ms + VISIT_MS;
        visit->from = from;
        if (!tern_tcp_call_begin(visit, EPOLLIN))
            tern_tcp_call_close(visit);
    }
}
