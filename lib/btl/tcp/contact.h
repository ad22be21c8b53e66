/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_CONTACT_H
#define TERN_TCP_CONTACT_H

/*
 * Contacts: the lanes of peers with which connections exist, are wanted, or come in. One is made when it is first spoken of;
 * what is needed to find a peer, its addresses and what became of each, only lives as long as it is sought. With
 * reception's lock.
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
    uint8_t arriving; /* visitors of this peer that were welcomed */
    int calls;        /* of ours that are under way */
    struct tern_tcp_search *search; /* NULL: it is not being sought */
};

/* Made when it is not there yet. NULL: no memory. */
struct tern_tcp_contact *tern_tcp_contact_of(uint32_t rank, uint8_t tag);

/* A link with it is wanted. 0: it is being made, or is there; TERN_ERR_UNREACHABLE or TERN_ERR_NO_MEM with text. */
int tern_tcp_contact_seek(struct tern_tcp_contact *contact);
/* Are we calling it at this moment? */
bool tern_tcp_contact_is_called(const struct tern_tcp_contact *contact);

/* For calls: where they go. */
const struct tern_tcp_address *tern_tcp_contact_address(const struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair);
/* What became of one for the first link: somebody is there, and shall say who; that address is not the way, errno or 0 and
 * `reason` say why; the other end's call will come instead. */
void tern_tcp_contact_connected(struct tern_tcp_contact *contact);
void tern_tcp_contact_missed(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair, int error, const char *reason);
void tern_tcp_contact_crossed(struct tern_tcp_contact *contact);
/* It is there, but in another MPI program than this one is. */
void tern_tcp_contact_runs(struct tern_tcp_contact *contact, uint32_t program);
/* There is a first link, a call's or a visitor's: the search is over. */
void tern_tcp_contact_found(struct tern_tcp_contact *contact);
/* More links, from the one whose call by `first` has made the first: where more interfaces of ours and of theirs share subnets,
 * or the parameter asks for several between two. */
void tern_tcp_contact_widen(struct tern_tcp_contact *contact, const struct tern_tcp_pair *first);

/* Goes on with all that are sought. Returns how many things happened. */
int tern_tcp_contacts_go_on(uint64_t now_ms);
/* When they want to go on again; 0: nobody waits for the time. */
uint64_t tern_tcp_contacts_due_ms(void);
/* Nobody is sought any more, for now. */
void tern_tcp_contacts_pause(void);
void tern_tcp_contacts_free(void);

#endif
