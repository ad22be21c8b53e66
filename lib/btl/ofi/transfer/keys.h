/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_KEYS_H
#define TERN_OFI_KEYS_H

/*
 * Keys of registered memory that an announced message has no room for: keys of several rails, and
 * raw keys, which are longer than 64 bits (FI_MR_RAW). The announcement carries a number in place
 * of the key, and TERN_OFI_BY_NUMBER in place of the address. A frame TERN_OFI_KEY tells the other
 * end what the number means, ahead of the announcement. Locks: the lane's lock.
 */

#include "lib/btl/ofi/wire/ofi_link.h"

enum { TERN_OFI_BY_NUMBER = 1 };

/* Keys that the other end of a link knows. */
struct tern_ofi_key_out {
    struct tern_list_node node; /* in link->keys_out, in the order of numbers */
    uint64_t number;
};

/* Tells the other end of the link `count` keys of the same memory. Sets ret_key->number, and enters
 * *ret_key, which the caller keeps until tern_ofi_key_end. Returns 0 or TERN_ERR_AGAIN. */
int tern_ofi_keys_tell(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                       const struct tern_ofi_rail_key *keys, uint32_t count,
                       struct tern_ofi_key_out *ret_key);
/* The registrations have ended. */
void tern_ofi_key_end(struct tern_ofi_key_out *key);

/* Handles a frame TERN_OFI_KEY, whose turn has come. */
void tern_ofi_key_arrived(struct tern_ofi_link *link, const unsigned char *bytes, size_t length);
/* Returns true if a frame TERN_OFI_KEY may look like this. */
bool tern_ofi_key_is_sane(const unsigned char *bytes, size_t length);
/* Takes the keys with this number, which the peer has told the lane. Returns their number, or
 * TERN_ERR_UNSUPPORTED with text if there are none. */
int tern_ofi_keys_take(struct tern_ofi_lane *lane, const struct tern_peer *peer, uint64_t number,
                       struct tern_ofi_rail_key ret_keys[TERN_OFI_RAILS]);
/* Forgets all keys that peers have told the lane. */
void tern_ofi_keys_free(struct tern_ofi_lane *lane);

#endif
