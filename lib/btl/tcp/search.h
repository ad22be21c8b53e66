/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_CONTACT_H
#define TERN_TCP_CONTACT_H

/*
 * Contacts: the lanes of peers with which connections exist, are wanted, or come in. One is made
 * when it is first spoken of; what is needed to find a peer, its addresses and what became of each,
 * only lives as long as it is sought. With reception's lock.
 */

#include "lib/btl/tcp/address.h"

#include <stdbool.h>
#include <stdint.h>

struct tern_tcp_search;

struct tern_tcp_contact {
    struct tern_tcp_contact *next; /* in its bucket */
    uint32_t rank;
    uint8_t tag;      /* the caller's lane, ours or theirs */
    uint8_t links;    /* a bit for each that was handed over */
    /* visitors of this peer that were welcomed and have not confirmed: their hellos may be copies
     * that a stranger sends */
    int arriving;
    int calls;        /* of ours that are under way, ... */
    int connecting;   /* ... and of these, the ones that nobody has accepted yet */
    struct tern_tcp_search *search; /* NULL: it is not being sought */
};

/* Why a call has brought no link. Whether the peer is called again depends on the last of these
 * that happened at any of its addresses. */
enum tern_tcp_miss {
    TERN_TCP_NO_WAY, /* there is no route to the host, or it does not answer at all */
    /* the host is there, but not this rank: perhaps the port is that of a program that has ended */
    TERN_TCP_REFUSED,
    TERN_TCP_CLOSED, /* somebody has accepted the connection and closed it without an answer */
    /* the host answers, but not at this port: its queue is full until the rank looks at it, if it
       is the rank's */
    TERN_TCP_CROWDED,
};

/* Made when it is not there yet. NULL: no memory. */
struct tern_tcp_contact *tern_tcp_contact_of(uint32_t rank, uint8_t tag);

/* A link with it is wanted. 0: it is being made, or is there; TERN_ERR_UNREACHABLE or
 * TERN_ERR_NO_MEM with text. */
int tern_tcp_contact_seek(struct tern_tcp_contact *contact);
/* Returns true if this process has begun to call the peer a short time ago. */
bool tern_tcp_contact_is_called(const struct tern_tcp_contact *contact);

/* For calls: where they go. */
const struct tern_tcp_address *tern_tcp_contact_address(const struct tern_tcp_contact *contact,
                                                        const struct tern_tcp_pair *pair);
/* What became of one for the first link: somebody is there, and shall say who; it has failed,
 * `reason` is for people; the other end's call will come instead; its answer came too late to be
 * used. */
void tern_tcp_contact_connected(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair);
void tern_tcp_contact_missed(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair,
                             enum tern_tcp_miss miss, const char *reason);
void tern_tcp_contact_crossed(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair);
void tern_tcp_contact_repeat(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair);
/* It is there, but in another MPI program than this one is. */
void tern_tcp_contact_runs(struct tern_tcp_contact *contact, uint32_t program);
/* It is there, but a parameter has another value than here, where all ranks must have the same. */
void tern_tcp_contact_differs(struct tern_tcp_contact *contact, const char *parameter, int here,
                              int there);
/* There is a first link, a call's or a visitor's: the search is over. */
void tern_tcp_contact_found(struct tern_tcp_contact *contact);
/* More links, from the one whose call by `first` has made the first: where more interfaces of ours
 * and of theirs share subnets, or the parameter asks for several between two. */
void tern_tcp_contact_widen(struct tern_tcp_contact *contact, const struct tern_tcp_pair *first);

/* Goes on with all that are sought. Returns how many things happened. */
int tern_tcp_contacts_go_on(uint64_t now_ms);
/* When they want to go on again; 0: nobody waits for the time. */
uint64_t tern_tcp_contacts_due_ms(void);
/* Nobody is sought any more, for now. */
void tern_tcp_contacts_pause(void);
void tern_tcp_contacts_free(void);

#endif
