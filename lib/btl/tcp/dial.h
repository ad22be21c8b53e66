/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_CALL_H
#define TERN_TCP_CALL_H

/*
 * Connections that are no links yet, each with a handshake under way: calls of ours (dial.c), and
 * visitors (accept.c). Reception has them all in a list, and its lock is held.
 */

#include "lib/btl/tcp/search.h"
#include "lib/btl/tcp/greeting.h"
#include "lib/util/list.h"

#include <sys/socket.h>

enum tern_tcp_step {
    TERN_TCP_CONNECTING,
    TERN_TCP_PROBING, /* nobody answers at the peer's port: does its host answer at another one? */
    TERN_TCP_AWAITING_ANSWER,
    TERN_TCP_AWAITING_HELLO, /* from here on a visitor */
    TERN_TCP_AWAITING_CONFIRM,
};

struct tern_tcp_call {
    struct tern_list_node node; /* in reception's list */
    int fd;
    enum tern_tcp_step step;
    struct tern_tcp_contact *contact; /* of a visitor: once its hello has been read */
    uint8_t link;                     /* which of the contact's links it is to become */
    uint64_t deadline_ms;             /* 0: none */
    size_t got;                       /* bytes of the message that is awaited */
    int probes;                       /* other ports that were tried */
    struct tern_hello hello;
    struct tern_answer answer;
    struct tern_confirm confirm;
    const struct tern_tcp_pair *pair; /* a call's, while its contact is sought */
    struct sockaddr_storage from;     /* a visitor's */
};

/* dial.c: calls the contact at the address of the pair, for its link `index`. What comes of it, the
 * contact hears. */
void tern_tcp_call(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair,
                   uint8_t index);
/* Goes on with what its socket has to say. The call may be gone then. */
void tern_tcp_call_go_on(struct tern_tcp_call *call);
/* Called when the deadline of a call has passed. The call may be gone then. */
void tern_tcp_call_is_late(struct tern_tcp_call *call);

/* accept.c: accepts the connections that wait at the port, as many as its queue can hold. Returns
 * how many. */
int tern_tcp_visitors_receive(uint64_t now_ms);
/* Reads what the visitor has sent. Returns false if the visit is over: it has become a link, or is
 * closed. */
bool tern_tcp_visit_go_on(struct tern_tcp_call *visit);
/* Returns true if the whole hello is there, and waits for the secret. */
bool tern_tcp_visit_waits(const struct tern_tcp_call *visit);

/* connecting.c: adds a call or a visitor to the list, and watches its socket. Returns false with
 * errno if it cannot. */
bool tern_tcp_call_begin(struct tern_tcp_call *call, uint32_t events);
/* No visitor can be accepted for want of files or memory: looks at the port again a while later. */
void tern_tcp_visitors_rest(uint64_t now_ms);
/* There are more visitors that have not said hello than shall be: one of them has to go. */
bool tern_tcp_visitors_are_many(void);
/* Closes one of them, the oldest one first; one whose whole hello is there only if there is no
 * other. Each is read before it is closed. Returns false if there is none. */
bool tern_tcp_drop_visitor(void);
/* The visitor has said hello for the contact, and has been answered. */
void tern_tcp_visit_is_welcome(struct tern_tcp_call *visit, struct tern_tcp_contact *contact);
/* Returns the first call or visitor of the list, and the one after `call`; NULL at the end. */
struct tern_tcp_call *tern_tcp_call_after(const struct tern_tcp_call *call);
/* Waits for other events than before, or at another socket. Returns false with errno if it cannot.
 */
bool tern_tcp_call_watch(struct tern_tcp_call *call, uint32_t events);
/* Closes and frees it. */
void tern_tcp_call_close(struct tern_tcp_call *call);
/* Both ends have proved themselves: it becomes a link, and is gone. */
void tern_tcp_call_hand_over(struct tern_tcp_call *call);
/* For how long this process had not looked at its calls when it began to look at them this time. */
uint64_t tern_tcp_away_ms(void);

#endif
