/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_SEARCH_H
#define TERN_TCP_SEARCH_H

/*
 * Contacts: a contact is a lane of a peer with which a connection exists, is wanted, or is
 * arriving. Made on first use. The data for the search, the peer's addresses and the result at
 * each, live only while the peer is sought. Locks: all functions need reception's lock.
 */

#include "lib/btl/peer.h"
#include "lib/btl/tcp/address.h"
#include "lib/util/net/launcher.h"

#include <stdbool.h>
#include <stdint.h>

struct tern_tcp_search;

/* A lane of a peer. Never freed before tern_tcp_searches_free. */
struct tern_tcp_contact {
    struct tern_tcp_contact *next; /* in the hash table's bucket */
    struct tern_process process; /* the peer */
    uint8_t tag;      /* the caller's lane; the caller may be this process or the peer */
    uint8_t links;    /* bit i: link i was handed over to the lane */
    /* Accepted connections of this peer that were answered and have not confirmed. Their hellos may
     * be copies that a stranger sends. */
    int arriving;
    int calls;        /* outgoing connections under way ... */
    int connecting;   /* ... and how many of them the peer's host has not accepted yet */
    bool they_gave_up; /* the peer has failed to call us, so only our own call can make a link */
    struct tern_tcp_search *search; /* NULL: the peer is not being sought */
};

/* Why an outgoing connection gave no link. Whether the peer is tried again depends on the worst
 * result at any of its addresses: the last one in this list. */
enum tern_tcp_miss {
    TERN_TCP_NO_WAY, /* there is no route to the host, or the host does not answer at all */
    /* the host refuses: this rank does not listen there. Perhaps the port belonged to a program
     * that has ended */
    TERN_TCP_REFUSED,
    TERN_TCP_CLOSED, /* the connection was accepted, and closed without an answer */
    /* the host answers, but not at this port. If the port is the rank's, its queue is full until
     * the rank accepts */
    TERN_TCP_CROWDED,
};

/* Returns the contact, and makes it on first use. NULL if there is no memory. */
struct tern_tcp_contact *tern_tcp_search_of(struct tern_process process, uint8_t tag);

/* Asks for a link with the contact. Returns 0 if the link exists or is being made;
 * TERN_ERR_UNREACHABLE or TERN_ERR_NO_MEM with text. */
int tern_tcp_search_begin(struct tern_tcp_contact *contact);
/* Does what the peer asks for, which cannot call us (launcher.h). */
void tern_tcp_search_heed(struct tern_tcp_contact *contact, enum tern_unreached how);
/* Returns true if this process began to call the peer a short time ago, and has not failed yet. */
bool tern_tcp_search_is_called(const struct tern_tcp_contact *contact);

/* Returns the peer's address of a pair. */
const struct tern_tcp_address *tern_tcp_search_address(const struct tern_tcp_contact *contact,
                                                        const struct tern_tcp_pair *pair);
/* Report what happened to an outgoing connection for the first link. connected: the host has
 * accepted, and the answer will say which rank is there. missed: the connection failed; `reason` is
 * for people. crossed: the peer's own connection will come instead. repeat: the answer came too
 * late to be used. */
void tern_tcp_search_connected(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair);
void tern_tcp_search_missed(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair,
                             enum tern_tcp_miss miss, const char *reason);
void tern_tcp_search_crossed(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair);
void tern_tcp_search_repeat(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair);
/* Reports that the peer runs MPI program number `program`, which is not ours. */
void tern_tcp_search_runs(struct tern_tcp_contact *contact, uint32_t program);
/* Reports that the peer has another value of a parameter that must be equal on all ranks. */
void tern_tcp_search_differs(struct tern_tcp_contact *contact, const char *parameter, int here,
                              int there);
/* Reports that there is a first link, made by either end: the search is over. */
void tern_tcp_search_found(struct tern_tcp_contact *contact);
/* Makes further links, called by the end that has made the first link, by the pair `first`. There
 * are several if more of our interfaces share subnets with the peer's, or if the parameter asks for
 * several links between two ranks. */
void tern_tcp_search_widen(struct tern_tcp_contact *contact, const struct tern_tcp_pair *first);

/* Continues all searches. Returns the number of things done. */
int tern_tcp_searches_go_on(uint64_t now_ms);
/* Returns when, after `now_ms`, the searches must continue; 0: none waits for a time. */
uint64_t tern_tcp_searches_due_ms(uint64_t now_ms);
/* Stops all searches for now. */
void tern_tcp_searches_pause(void);
/* Frees all contacts. */
void tern_tcp_searches_free(void);

#endif
