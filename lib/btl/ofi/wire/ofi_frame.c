/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/wire/ofi_frame.h"

#include "lib/btl/peer.h"

#include <string.h>

enum { GREETING_VERSION = 2, CARD_VERSION = 2 };

static const char service[8] = "TERNofi\n";

/* Returns true if rails that have arrived can be used. */
static bool are_sane(const struct tern_ofi_rails *rails)
{
    bool any = false;
    if (rails->count > TERN_OFI_RAILS)
        return false;
    for (uint32_t i = 0; i < rails->count; i++) {
        const struct tern_ofi_told_rail *rail = &rails->rail[i];
        if (rail->name.length > TERN_OFI_NAME_MAX || !memchr(rail->fabric, 0, sizeof rail->fabric))
            return false;
        any |= rail->name.length > 0;
    }
    return any;
}

static int prove(const struct tern_ofi_greeting *greeting, enum tern_ofi_kind kind,
                 const unsigned char *secret, unsigned char ret_proof[TERN_PROOF_BYTES])
{
    const char *word = kind == TERN_OFI_HELLO ? "hello" : "welcome";
    struct iovec parts[] = {{(void *)word, strlen(word)},
                            {(void *)greeting, offsetof(struct tern_ofi_greeting, proof)}};
    return tern_hmac(secret, parts, 2, ret_proof);
}

int tern_ofi_greeting_seal(struct tern_ofi_greeting *greeting, enum tern_ofi_kind kind,
                           const unsigned char *secret)
{
    memcpy(greeting->service, service, sizeof service);
    greeting->version = GREETING_VERSION;
    greeting->zero = 0;
    return prove(greeting, kind, secret, greeting->proof);
}

bool tern_ofi_greeting_holds(const struct tern_ofi_greeting *greeting, enum tern_ofi_kind kind,
                             const unsigned char *secret, uint32_t self, uint32_t size)
{
    unsigned char proof[TERN_PROOF_BYTES];
    return memcmp(greeting->service, service, sizeof service) == 0 &&
           prove(greeting, kind, secret, proof) == 0 && tern_proof_equal(proof, greeting->proof) &&
           greeting->version == GREETING_VERSION && greeting->zero == 0 && greeting->to == self &&
           greeting->from != self && greeting->from < size &&
           greeting->from_lane < TERN_LANES_MAX && greeting->to_lane < TERN_LANES_MAX &&
           greeting->lane_count > greeting->from_lane && greeting->lane_count <= TERN_LANES_MAX &&
           are_sane(&greeting->rails);
}

/* Returns the bytes of a card with `count` rails. Only the name of the last rail is cut: it has
 * `name_length` bytes. */
static size_t card_bytes(uint32_t count, size_t name_length)
{
    return offsetof(struct tern_ofi_card, rails.rail) +
           (count - 1) * sizeof(struct tern_ofi_told_rail) +
           offsetof(struct tern_ofi_told_rail, name.bytes) + name_length;
}

size_t tern_ofi_card_write(const struct tern_ofi_card *card, unsigned char room[sizeof *card])
{
    struct tern_ofi_card written = *card;
    written.version = CARD_VERSION;
    memcpy(room, &written, sizeof written);
    return card_bytes(card->rails.count, card->rails.rail[card->rails.count - 1].name.length);
}

bool tern_ofi_card_read(const void *bytes, size_t length, struct tern_ofi_card *ret_card)
{
    struct tern_ofi_card card = {0};
    if (length < card_bytes(1, 0) || length > sizeof card)
        return false;
    memcpy(&card, bytes, length);
    if (card.version != CARD_VERSION || card.lane_count < 1 ||
        card.lane_count > TERN_LANES_MAX || !memchr(card.provider, 0, sizeof card.provider) ||
        !are_sane(&card.rails) ||
        length != card_bytes(card.rails.count,
                             card.rails.rail[card.rails.count - 1].name.length))
        return false;
    *ret_card = card;
    return true;
}

/* Returns the first of our rails that is not in `paired` and is on the other's fabric, or on any;
 * TERN_OFI_RAILS if there is none. */
static uint32_t partner_of(const struct tern_ofi_told_rail *other, const struct tern_ofi_rails *own,
                           uint32_t paired, bool any)
{
    for (uint32_t i = 0; i < own->count; i++)
        if (!(paired >> i & 1) && own->rail[i].name.length &&
            (any || strcmp(own->rail[i].fabric, other->fabric) == 0))
            return i;
    return TERN_OFI_RAILS;
}

static uint32_t pair(const struct tern_ofi_rails *own, const struct tern_ofi_rails *theirs,
                     bool any, uint32_t most, uint32_t ret_own[TERN_OFI_RAILS],
                     uint32_t ret_theirs[TERN_OFI_RAILS])
{
    uint32_t count = 0, paired = 0;
    for (uint32_t i = 0; i < theirs->count && count < most; i++) {
        uint32_t partner = theirs->rail[i].name.length
                               ? partner_of(&theirs->rail[i], own, paired, any)
                               : TERN_OFI_RAILS;
        if (partner == TERN_OFI_RAILS)
            continue;
        paired |= 1u << partner;
        ret_own[count] = partner;
        ret_theirs[count++] = i;
    }
    return count;
}

uint32_t tern_ofi_pair_rails(const struct tern_ofi_rails *own, const struct tern_ofi_rails *theirs,
                             bool routes, uint32_t ret_own[TERN_OFI_RAILS],
                             uint32_t ret_theirs[TERN_OFI_RAILS])
{
    uint32_t count = pair(own, theirs, false, TERN_OFI_RAILS, ret_own, ret_theirs);
    return count || !routes ? count : pair(own, theirs, true, 1, ret_own, ret_theirs);
}

bool tern_ofi_cards_match(const struct tern_ofi_card *a, const struct tern_ofi_card *b)
{
    uint32_t own[TERN_OFI_RAILS], theirs[TERN_OFI_RAILS];
    return strcmp(a->provider, b->provider) == 0 && a->protocol == b->protocol &&
           a->address_format == b->address_format &&
           tern_ofi_pair_rails(&a->rails, &b->rails, a->routes && b->routes, own, theirs) > 0;
}
