/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_FRAME_H
#define TERN_OFI_FRAME_H

/*
 * What travels between two endpoints: frames, each a message of libfabric. Providers need not keep
 * the order, so frames that need it are numbered.
 *
 *      caller                                          called end
 *        HELLO: who, whom, slot, cookie, name, nonce, proof  ->
 *                 <- WELCOME: slot, cookie, name, the caller's nonce, proof
 *        PACKET, ...                  <->                PACKET, ...
 *
 * A slot is a number that the receiver of frames gives to their sender, so that it finds the link
 * without a search. The cookie, 32 random bits, comes with it: frames with another cookie are
 * dropped. Both ends may call at the same time; then each takes the other's HELLO as the answer. A
 * HELLO that somebody sends again changes nothing: its proof covers the caller's endpoint, to which
 * alone the answer goes.
 *
 * libfabric gives no connection to which a proof could belong. Whoever reads the fabric's traffic
 * can make frames (SECURITY.md).
 */

#include "lib/btl/ofi/fabric.h"
#include "lib/btl/packet.h"
#include "lib/util/hmac.h"

enum tern_ofi_kind {
    TERN_OFI_HELLO = 1,
    TERN_OFI_WELCOME,
    TERN_OFI_PACKET,   /* a packet and its payload */
    TERN_OFI_BYE,      /* the sender leaves MPI; answered by BYE_SEEN */
    TERN_OFI_BYE_SEEN, /* all frames before the BYE numbered `number` have arrived */
    TERN_OFI_KEY,      /* the raw key of memory that the next packets announce (keys.h) */
    TERN_OFI_KINDS
};

/* The beginning of each frame. */
struct tern_ofi_head {
    uint32_t slot;   /* of the link, given by the receiver; 0 in HELLO */
    uint32_t cookie; /* likewise */
    uint32_t number; /* of a PACKET, BYE or KEY among those of this link in this direction */
    uint16_t kind;   /* enum tern_ofi_kind */
    uint16_t order;  /* TERN_OFI_ORDER in the sender's byte order */
};
enum { TERN_OFI_ORDER = 0x0102 };

/* The head of a PACKET. */
struct tern_ofi_packet {
    struct tern_ofi_head head;
    struct tern_packet packet;
};

struct tern_ofi_key_frame {
    struct tern_ofi_head head;
    uint64_t number; /* which announcements carry in place of the key */
    uint64_t oldest; /* keys of this link with lower numbers are not valid any more */
    struct tern_ofi_raw_key key; /* only the bytes that it has */
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
    struct tern_ofi_name name; /* of the sender's endpoint */
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
    char provider[TERN_OFI_TEXT_MAX], fabric[TERN_OFI_TEXT_MAX];
    struct tern_ofi_name name; /* of the endpoint of lane 0 */
};

/* Writes the bytes of the card that are used into `room`, and returns their number. */
size_t tern_ofi_card_write(const struct tern_ofi_card *card, unsigned char room[sizeof *card]);
/* Reads a card. Returns false if the bytes are no card of this version. */
bool tern_ofi_card_read(const void *bytes, size_t length, struct tern_ofi_card *ret_card);
/* Returns true if both ranks are on one fabric and speak the same protocol. */
bool tern_ofi_cards_match(const struct tern_ofi_card *a, const struct tern_ofi_card *b);

#endif
