/* SPDX-License-Identifier: BSD-3-Clause */

/* The parts of a card as bytes. Pure functions. */

#include "lib/btl/card.h"

#include <string.h>

long tern_card_find(const char *bytes, size_t used, const char *mover,
                    struct tern_card_head *ret_head)
{
    size_t at = 0;
    while (used - at >= sizeof *ret_head) {
        memcpy(ret_head, bytes + at, sizeof *ret_head);
        if (ret_head->length > used - at - sizeof *ret_head)
            return -1;
        if (strncmp(ret_head->mover, mover, sizeof ret_head->mover) == 0)
            return (long)at;
        at += sizeof *ret_head + ret_head->length;
    }
    return -1;
}

size_t tern_card_write(char *to, const char *mover, const void *bytes, size_t length)
{
    struct tern_card_head head = {.length = (uint32_t)length};
    strncpy(head.mover, mover, sizeof head.mover - 1);
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, bytes, length);
    return sizeof head + length;
}

const void *tern_card_part(const struct tern_card *card, size_t size, const char *mover,
                           size_t *ret_length)
{
    struct tern_card_head head;
    if (size < sizeof card->own)
        return NULL;
    long at = tern_card_find(card->bytes, size - sizeof card->own, mover, &head);
    if (at < 0)
        return NULL;
    *ret_length = head.length;
    return card->bytes + at + sizeof head;
}
