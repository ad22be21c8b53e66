/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_LINK_H
#define TERN_OFI_LINK_H

/*
 * Links: what a lane knows of a lane of a peer: its endpoint, slots and cookies, and the numbers of
 * frames in both directions. A lane sends to one lane of a peer. If the peer has more lanes than we
 * have, the others' frames arrive by links of their own. Locks: the lane's lock.
 */

#include "lib/btl/ofi/wire/frame_list.h"
#include "lib/btl/ofi/wire/ofi_lane.h"
#include "lib/btl/peer.h"
#include "lib/rte/rte.h"

enum tern_ofi_link_state {
    TERN_OFI_IDLE,    /* nobody has asked for the link */
    TERN_OFI_SEEKING, /* the peer's card is being fetched */
    TERN_OFI_CALLING, /* HELLO is repeated until the other end answers */
    TERN_OFI_OPEN,
    TERN_OFI_REFUSED, /* the peer is not on our fabric: another byte mover sends to it */
    TERN_OFI_LOST,
};

/* A pair of our port and one of the other end's rails (routes.h). */
struct tern_ofi_route {
    struct tern_ofi_port *port;
    uint32_t theirs;
    int failures; /* of reads, in turn */
    fi_addr_t address;
};

/* What a link has for the case that a network card dies (failover.h). */
struct tern_ofi_failover {
    bool keeps; /* one end has several rails: numbered frames are kept in ... */
    struct tern_ofi_frame_list unseen; /* ... this list until they have been seen */
    bool owes_seen;                    /* the other end must learn what has arrived */
    uint32_t new_frames;               /* that have arrived since we told it */
    size_t new_bytes;                  /* of these */
    uint32_t owes_dead;   /* bits of our rails of whose end the other end does not know */
    bool resends;         /* kept frames are being sent again, ... */
    bool resend_begun;    /* ... up to ... */
    uint32_t resend_last; /* ... this one */
};

struct tern_ofi_link {
    struct tern_list_node in_lane;
    struct tern_list_node in_busy; /* if `busy` */
    struct tern_peer *peer;
    enum tern_ofi_link_state state;
    bool busy;
    bool outgoing; /* peer->endpoint: packets to the peer go by this link */
    bool owes_welcome, owes_bye, owes_bye_seen;
    bool bye_sent; /* our BYE, since we last came to MPI */
    bool peer_bye; /* the peer has left MPI, and has sent nothing since */
    uint8_t their_lane, their_lanes;
    struct tern_ofi_port *port; /* by which frames go, to ... */
    fi_addr_t address;          /* ... this endpoint; valid once `theirs` is set ... */
    uint32_t to;                /* ... on this one of the other end's rails */
    struct tern_ofi_rails *theirs; /* rails of the other end, without the last ones' room; a rail
                                    * that is not to be used any more has no name */
    struct tern_ofi_route routes[TERN_OFI_RAILS];
    uint32_t route_count;
    uint32_t read_by;           /* bits of our rails by which the other end reads */
    struct tern_ofi_failover failover;
    uint32_t slot, cookie;             /* the other end puts them into its frames */
    uint32_t their_slot, their_cookie; /* we put them into ours; valid if OPEN */
    uint32_t next_out, next_in;        /* numbers of frames */
    uint32_t bye_number;               /* of our BYE */
    uint32_t bye_wait_ms;              /* until it is sent again */
    uint64_t refused_ms;               /* since when there is no room for a BYE; 0: there is */
    uint64_t bye_ms;                   /* when it was sent */
    uint32_t out_at_bye;               /* next_out after the last BYE, theirs or ours */
    bool bye_answered, bye_matters;    /* to one that has not left, or was sent something since */
    bool told;                         /* the other end knows that we left at ... */
    uint32_t told_out, told_in;        /* ... next_out and next_in */
    struct tern_ofi_frame_list parked; /* frames that came before their turn */
    struct tern_list_node keys_out, keys_in; /* keys.h */
    uint64_t keys_told;
    unsigned char nonce[TERN_NONCE_BYTES]; /* of our HELLO */
    unsigned char their_nonce[TERN_NONCE_BYTES];
    uint64_t hello_ms, failed_ms;    /* when HELLO is sent next; when the link failed, or 0 */
    uint32_t hello_wait_ms;          /* until the next one */
    char why[200];                   /* if it failed */
    struct tern_rte_fetch *fetch;
};

/* Returns the link by which packets go to the peer, and makes it on first use. NULL with text if
 * there is no memory or no endpoint. */
struct tern_ofi_link *tern_ofi_link_to(struct tern_peer *peer);
/* Makes a link with a peer. Returns NULL if there is no memory. */
struct tern_ofi_link *tern_ofi_link_make(struct tern_ofi_lane *lane, struct tern_peer *peer);
/* Returns the link with a lane of the peer, or the outgoing one if `their_lane` is -1. NULL: there
 * is none. */
struct tern_ofi_link *tern_ofi_link_find(struct tern_ofi_lane *lane, const struct tern_peer *peer,
                                         int their_lane);
/* calling.c: begins to open the link. Returns TERN_ERR_AGAIN, or TERN_ERR_UNREACHABLE with text if
 * the peer is lost. */
int tern_ofi_link_seek(struct tern_ofi_lane *lane, struct tern_ofi_link *link);

/* Notes that a frame could not be sent, with libfabric's error. */
void tern_ofi_link_failed(struct tern_ofi_lane *lane, struct tern_ofi_link *link, int error);
/* calling.c: goes on with links that have something to do. Returns the number of things done. */
int tern_ofi_links_go_on(struct tern_ofi_lane *lane);
/* Ends the search for the peer's card. */
void tern_ofi_link_forget_card(struct tern_ofi_link *link);
/* Returns the head of a frame for the other end. */
struct tern_ofi_head tern_ofi_link_head(const struct tern_ofi_link *link, enum tern_ofi_kind kind,
                                        uint32_t number);
/* Sends a frame that is nothing but a head. Returns true if it is on its way; else the provider has
 * no room for it, since link->refused_ms. */
bool tern_ofi_link_send_head(struct tern_ofi_link *link, enum tern_ofi_kind kind, uint32_t number,
                             uint64_t now_ms);
/* Declares the peer lost: everything that waits for it ends with an error that says `why`. */
void tern_ofi_link_lose(struct tern_ofi_link *link, const char *why);
/* Adds the link to those that have something to do. */
void tern_ofi_link_note_busy(struct tern_ofi_lane *lane, struct tern_ofi_link *link);
/* Frees all links of the lane. */
void tern_ofi_links_free(struct tern_ofi_lane *lane);

/* Returns the time of a clock that only goes forward. */
uint64_t tern_ofi_now_ms(void);

/* The part of this rank's card; valid once the fabric is open. */
extern struct tern_ofi_card tern_ofi_own_card;

#endif
