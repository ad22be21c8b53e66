/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_DIAL_H
#define TERN_TCP_DIAL_H

/*
 * Connections that are not links yet, each with a handshake under way: calls, which we make
 * (dial.c), and visitors, which we accept (accept.c). Reception has all of them in one list. Locks:
 * all functions need reception's lock.
 */

#include "lib/btl/tcp/search.h"
#include "lib/btl/tcp/greeting.h"
#include "lib/btl/secret.h"
#include "lib/util/base/list.h"
#include "lib/util/net/visitors.h"

#include <sys/socket.h>

/* What a connection waits for. */
enum tern_tcp_step {
    TERN_TCP_CONNECTING,
    TERN_TCP_PROBING, /* the peer's port does not answer: does its host answer at another port? */
    TERN_TCP_AWAITING_ANSWER,
    TERN_TCP_AWAITING_HELLO, /* this and the next: accepted connections only */
    TERN_TCP_AWAITING_CONFIRM,
};

/* A connection that is being made. */
struct tern_tcp_call {
    struct tern_list_node node; /* in reception's list */
    int fd;
    enum tern_tcp_step step;
    struct tern_tcp_contact *contact; /* for an accepted connection NULL until its hello was read */
    uint8_t link;                     /* index of the link that this is to become */
    uint64_t deadline_ms;             /* 0: none */
    size_t got;                       /* bytes read of the message that is awaited */
    int probes;                       /* number of other ports tried */
    struct tern_hello hello;
    struct tern_answer answer;
    struct tern_confirm confirm;
    /* for an outgoing connection, as long as its contact is sought */
    const struct tern_tcp_pair *pair;
    struct sockaddr_storage from;     /* for an accepted connection: the peer's address */
    bool far; /* the peer is of another job, and `secret` is the secret of this connection */
    unsigned char secret[TERN_SECRET_BYTES];
};

/* Returns the secret by which both ends prove themselves: the job's, or that of two processes of
 * two jobs. NULL: not known yet. */
static inline const unsigned char *tern_tcp_dial_secret(const struct tern_tcp_call *call)
{
    return call->far ? call->secret : tern_secret();
}

/* dial.c: connects to the contact at the address of the pair, for its link `index`. The contact is
 * told of the result (search.h). */
void tern_tcp_dial(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair,
                   uint8_t index);
/* Handles what the socket reports. May close and free the call. */
void tern_tcp_dial_go_on(struct tern_tcp_call *call);
/* Called when the deadline of a call has passed. May close and free the call. */
void tern_tcp_dial_is_late(struct tern_tcp_call *call);
/* Shortens the deadline of a call to a peer that has given up calling us. */
void tern_tcp_dial_is_the_last(struct tern_tcp_call *call);

/* accept.c: accepts the connections that wait, at most as many as the queue can hold. Returns their
 * number. */
int tern_tcp_accept_receive(uint64_t now_ms);
/* Reads what has arrived on an accepted connection. Returns false if the connection has become a
 * link or is closed. */
bool tern_tcp_accept_go_on(struct tern_tcp_call *visit);
/* Returns true if the whole hello has arrived and waits because it cannot be judged yet. */
bool tern_tcp_accept_waits(const struct tern_tcp_call *visit);

/* connecting.c: adds a connection to the list, and watches its socket. Returns false with errno on
 * failure. */
bool tern_tcp_connecting_dial(struct tern_tcp_call *call, uint32_t events);
/* Stops accepting for a while, because descriptors or memory are exhausted. */
void tern_tcp_connecting_rest(uint64_t now_ms);
/* Returns true if too many accepted connections have not completed their hello: one of them must be
 * closed. */
bool tern_tcp_connecting_are_many(void);
/* The accepted connections, among reception's others. */
extern const struct tern_visitors tern_tcp_visitors;
/* Notes that the connection's hello was for `contact`, and was answered. */
void tern_tcp_connecting_is_welcome(struct tern_tcp_call *visit, struct tern_tcp_contact *contact);
/* Returns the connection behind `call` in the list, or the first if `call` is NULL. NULL at the
 * end. */
struct tern_tcp_call *tern_tcp_connecting_dial_after(const struct tern_tcp_call *call);
/* Changes the events for which the connection waits, or its socket. Returns false with errno on
 * failure. */
bool tern_tcp_connecting_watch(struct tern_tcp_call *call, uint32_t events);
/* Closes and frees the connection. */
void tern_tcp_connecting_end_dial(struct tern_tcp_call *call);
/* Turns the connection into a link, after both ends have proved themselves. Frees the call. */
void tern_tcp_connecting_hand_over(struct tern_tcp_call *call);
/* Returns for how long this process had not looked at its connections before the present look. */
uint64_t tern_tcp_away_ms(void);

#endif
