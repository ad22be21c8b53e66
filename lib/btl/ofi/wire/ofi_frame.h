/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_FRAME_H
#define TERN_OFI_FRAME_H

/*
 * What travels between two endpoints: frames, each a message of libfabric. Providers need not keep
 * the order, so frames that need it are numbered.
 *
 *      caller                                          called end
 *        HELLO: who, whom, slot, cookie, rails, nonce, proof  ->
 *                 <- WELCOME: slot, cookie, rails, the caller's nonce, proof
 *        PACKET, ...                  <->                PACKET, ...
 *
 * A slot is a number that the receiver of frames gives to their sender, so that it finds the link
 * without a search. The cookie, 32 random bits, comes with it: frames with another cookie are
 * dropped. Both ends may call at the same time; then each takes the other's HELLO as the answer. A
 * HELLO that somebody sends again changes nothing: its proof covers the caller's endpoint, to which
 * alone the answer goes.
 *
 * If one of the two has several rails, both keep a copy of each numbered frame until SEEN tells
 * that the frame has arrived, because a rail that dies may lose frames (failover.h).
 *
 * libfabric has no connections to which a proof could belong, so a process that reads the fabric's
 * traffic can make frames (SECURITY.md).
 */

#include "lib/btl/ofi/fabric/fabric.h"
#include "lib/btl/packet.h"
#include "lib/util/net/hmac.h"

enum tern_ofi_kind {
    TERN_OFI_HELLO = 1,
    TERN_OFI_WELCOME,
    TERN_OFI_PACKET,   /* a packet and its payload */
    TERN_OFI_BYE,      /* the sender leaves MPI; answered by BYE_SEEN */
    TERN_OFI_BYE_SEEN, /* all frames before the BYE numbered `number` have arrived */
    TERN_OFI_KEY,      /* keys of memory that the next packets announce (keys.h) */
    TERN_OFI_RAIL_DEAD, /* the sender has left out one of its rails */
    TERN_OFI_SEEN,     /* all numbered frames before `number` have arrived */
    TERN_OFI_KINDS
};

/* The beginning of each frame. */
struct tern_ofi_head {
    uint32_t slot;   /* of the link, given by the receiver; 0 in HELLO */
    uint32_t cookie; /* likewise */
    uint32_t number; /* of a PACKET, BYE, KEY or RAIL_DEAD among those of this link in this
                      * direction */
    uint16_t kind;   /* enum tern_ofi_kind */
    uint16_t order;  /* TERN_OFI_ORDER in the sender's byte order */
};
enum { TERN_OFI_ORDER = 0x0102 };

/* The head of a PACKET. */
struct tern_ofi_packet {
    struct tern_ofi_head head;
    struct tern_packet packet;
};

/* How the other end names memory when it reads by one of the sender's rails. */
struct tern_ofi_rail_key {
    uint64_t address, key; /* `key`: if keys are not raw */
    uint32_t rail;
    uint32_t zero;
    struct tern_ofi_raw_key raw; /* only the bytes that it has travel */
};
struct tern_ofi_key_frame {
    struct tern_ofi_head head;
    uint64_t number; /* which announcements carry in place of the key */
    uint64_t oldest; /* keys of this link with lower numbers are not valid any more */
    uint32_t count;
    uint32_t zero;
    struct tern_ofi_rail_key keys[TERN_OFI_RAILS]; /* `count` of them, without gaps */
};

struct tern_ofi_rail_frame {
    struct tern_ofi_head head;
    uint32_t rail;
};

/* The rails of a process, as others must know them. A rail whose name has no bytes is dead. */
struct tern_ofi_rails {
    uint32_t count, zero;
    struct tern_ofi_told_rail {
        char fabric[TERN_OFI_TEXT_MAX];
        struct tern_ofi_name name; /* of the endpoint of the lane */
    } rail[TERN_OFI_RAILS];
};

/* A HELLO or a WELCOME, without the head. */
struct tern_ofi_greeting {
    char service[8];         /* "TERNofi\n" */
    uint32_t version;        /* of what follows the greeting */
    uint32_t from, to;       /* ranks */
    uint32_t program;        /* number of the sender's MPI program (tern_rte_program) */
    uint32_t slot, cookie;   /* which the other end must put into its frames */
    uint8_t from_lane, to_lane;
    uint8_t lane_count;      /* of the sender */
    uint8_t zero;
    struct tern_ofi_rails rails; /* of the sender */
    unsigned char nonce[TERN_NONCE_BYTES]; /* the caller's */
    unsigned char proof[TERN_PROOF_BYTES];
};
struct tern_ofi_greeting_frame {
    struct tern_ofi_head head;
    struct tern_ofi_greeting greeting;
};

/* Completes a greeting: the service's name and version, and the proof. The caller has set all else.
 * Returns 0, or TERN_ERR_OTHER with text. */
int tern_ofi_greeting_seal(struct tern_ofi_greeting *greeting, enum tern_ofi_kind kind,
                           const unsigned char *secret);
/* Returns true if a greeting of this kind comes from a process that knows the secret, in our
 * version, and is sane for rank `self` of `size`. Pure but for loading Nettle. */
bool tern_ofi_greeting_holds(const struct tern_ofi_greeting *greeting, enum tern_ofi_kind kind,
                             const unsigned char *secret, uint32_t self, uint32_t size);

/* The part of this rank's card (lib/btl/card.h). */
struct tern_ofi_card {
    uint16_t version;
    uint8_t lane_count;
    uint8_t routes; /* 1: ranks of other fabrics may be reached, too (IP addresses) */
    uint32_t protocol, address_format; /* as libfabric numbers them */
    char provider[TERN_OFI_TEXT_MAX];
    struct tern_ofi_rails rails; /* of lane 0 */
};

/* Writes the bytes of the card that are used into `room`, and returns their number. */
size_t tern_ofi_card_write(const struct tern_ofi_card *card, unsigned char room[sizeof *card]);
/* Reads a card. Returns false if the bytes are no card of this version. */
bool tern_ofi_card_read(const void *bytes, size_t length, struct tern_ofi_card *ret_card);
/* Pairs rails of two processes that are on the same fabric, so that no rail is in two pairs; what
 * leads to the other's first rail comes first. If no rails share a fabric and `routes`, the first
 * two are paired: both have IP addresses, so that they may reach each other. Sets the indices of
 * each pair; returns the number of pairs. Pure. */
uint32_t tern_ofi_pair_rails(const struct tern_ofi_rails *own, const struct tern_ofi_rails *theirs,
                             bool routes, uint32_t ret_own[TERN_OFI_RAILS],
                             uint32_t ret_theirs[TERN_OFI_RAILS]);
/* Returns true if both ranks share a fabric and speak the same protocol. */
bool tern_ofi_cards_match(const struct tern_ofi_card *a, const struct tern_ofi_card *b);

#endif
