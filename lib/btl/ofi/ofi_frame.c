/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/ofi_frame.h"

#include "lib/btl/peer.h"

#include <string.h>

enum { GREETING_VERSION = 1, CARD_VERSION = 1 };

static const char service[8] = "TERNofi\n";

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
           greeting->name.length <= TERN_OFI_NAME_MAX;
}

size_t tern_ofi_card_write(const struct tern_ofi_card *card, unsigned char room[sizeof *card])
{
    struct tern_ofi_card written = *card;
    written.version = CARD_VERSION;
    memcpy(room, &written, sizeof written);
    return offsetof(struct tern_ofi_card, name.bytes) + card->name.length;
}

bool tern_ofi_card_read(const void *bytes, size_t length, struct tern_ofi_card *ret_card)
{
    struct tern_ofi_card card = {0};
    size_t head = offsetof(struct tern_ofi_card, name.bytes);
    if (length < head || length > sizeof card)
        return false;
    memcpy(&card, bytes, length);
    if (card.version != CARD_VERSION || card.name.length != length - head ||
        card.lane_count < 1 || card.lane_count > TERN_LANES_MAX ||
        !memchr(card.provider, 0, sizeof card.provider) ||
        !memchr(card.fabric, 0, sizeof card.fabric))
        return false;
    *ret_card = card;
    return true;
}

bool tern_ofi_cards_match(const struct tern_ofi_card *a, const struct tern_ofi_card *b)
{
    return strcmp(a->provider, b->provider) == 0 && a->protocol == b->protocol &&
           a->address_format == b->address_format &&
           ((a->routes && b->routes) || strcmp(a->fabric, b->fabric) == 0);
}
