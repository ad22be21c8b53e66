/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/card.h"

#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <stdbool.h>
#include <string.h>

static struct tern_card card;
static size_t used; /* bytes of card.bytes */
static bool changed;

static void remove_part(const char *mover)
{
    struct tern_card_head part;
    long at = tern_card_find(card.bytes, used, mover, &part);
    if (at < 0)
        return;
    size_t size = sizeof part + part.length, behind = (size_t)at + size;
    memmove(card.bytes + at, card.bytes + behind, used - behind);
    used -= size;
}

int tern_card_set(const char *mover, const void *bytes, size_t length)
{
    struct tern_card_head part;
    remove_part(mover);
    changed = true;
    if (!length)
        return 0;
    if (length > sizeof card.bytes - used - sizeof part)
        return tern_error(TERN_ERR_OTHER, "a rank's addresses for %s take %zu bytes, which is too "
                                          "much", mover, length);
    used += tern_card_write(card.bytes + used, mover, bytes, length);
    return 0;
}

void tern_card_set_own(uint64_t own)
{
    card.own = own;
    changed = true;
}

int tern_card_publish(void)
{
    if (!changed)
        return 0;
    changed = false;
    return tern_rte_publish(card.bytes, used, card.own);
}

const struct tern_card *tern_card_whole(size_t *ret_length)
{
    *ret_length = sizeof card.own + used;
    return &card;
}
