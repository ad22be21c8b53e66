/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_CALL_H
#define TERN_TCP_CALL_H

/*
 * Connections that are no links yet, each with a handshake under way: calls of ours (call.c), and visitors (visit.c). Reception
 * has them all in a list, and its lock is held.
 */

#include "lib/btl/tcp/contact.h"
#include "lib/btl/tcp/greeting.h"
#include "lib/util/list.h"

#include <sys/socket.h>

enum tern_tcp_step {
    TERN_TCP_CONNECTING,
    TERN_TCP_AWAITING_ANSWER,
    TERN_TCP_AWAITING_HELLO, /* from here on a visitor */
    TERN_TCP_AWAITING_CONFIRM,
};

struct tern_tcp_call {
    struct tern_link node; /* in reception's list */
    int fd;
    enum tern_tcp_step step;
    struct tern_tcp_contact *contact; /* of a visitor: once its hello has been read */
    uint8_t link;                     /* which of the contact's links it is to become */
    uint64_t deadline_ms;             /* 0: none */
    size_t got;                       /* bytes of the message that is awaited */
    struct tern_hello hello;
    struct tern_answer answer;
    struct tern_confirm confirm;
    const struct tern_tcp_pair *pair; /* a call's, while its contact is sought */
    struct sockaddr_storage from;     /* a visitor's */
};

/* call.c: calls the contact at the address of the pair, for its link `index`. What comes of it, the contact hears. */
void tern_tcp_call(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair, uint8_t index);
/* Goes on with what its socket has to say. The call may be gone then. */
void tern_tcp_call_go_on(struct tern_tcp_call *call);
/* It has taken too long, or something fails: errno, or 0 and a reason; NULL: errno's own words. The call is gone then. */
void tern_tcp_call_fail(struct tern_tcp_call *call, int error, const char *reason);

/* visit.c: lets in who stands at the door. Returns how many. */
int tern_tcp_visitors_receive(uint64_t now_ms);
void tern_tcp_visit_go_on(struct tern_tcp_call *visit);
/* Its hello is there and waits for the secret. */
bool tern_tcp_visit_waits(const struct tern_tcp_call *visit);

/* reception.c: one more in the list, for what happens at its socket; false with errno: not. */
bool tern_tcp_call_begin(struct tern_tcp_call *call, uint32_t events);
/* Waits for other events than before. False with errno. */
bool tern_tcp_call_watch(struct tern_tcp_call *call, uint32_t events);
/* Closes and frees it. */
void tern_tcp_call_close(struct tern_tcp_call *call);
/* Both ends have proved themselves: it becomes a link, and is gone. */
void tern_tcp_call_hand_over(struct tern_tcp_call *call);

/* Of a socket that is to be a link. */
void tern_tcp_set_options(int fd, bool same_host);
uint64_t tern_tcp_now_ms(void);

#endif
