/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_KEYS_H
#define TERN_OFI_KEYS_H

/*
 * Raw keys of registered memory: a provider with FI_MR_RAW has keys longer than the 64 bits that an
 * announced message carries. The announcement carries a number in place of the key, and a frame
 * TERN_OFI_KEY tells the other end which key the number means, ahead of the announcement. Locks:
 * the lane's lock.
 */

#include "lib/btl/ofi/ofi_link.h"

/* A key that the other end of a link knows. */
struct tern_ofi_key_out {
    struct tern_list_node node; /* in link->keys_out, in the order of numbers */
    uint64_t number;
};

/* Tells the other end of the link the key of a registration. Sets ret_key->number, and enters
 * *ret_key, which the caller keeps until tern_ofi_key_end. Returns 0; TERN_ERR_AGAIN; or
 * TERN_ERR_UNSUPPORTED with text. */
int tern_ofi_key_tell(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                      const struct tern_ofi_region *region, struct tern_ofi_key_out *ret_key);
/* The registration has ended. */
void tern_ofi_key_end(struct tern_ofi_key_out *key);

/* Handles a frame TERN_OFI_KEY, whose turn has come. */
void tern_ofi_key_arrived(struct tern_ofi_link *link, const unsigned char *bytes, size_t length);
/* Returns true if a frame TERN_OFI_KEY may look like this. */
bool tern_ofi_key_is_sane(const unsigned char *bytes, size_t length);
/* Takes the key with this number, which the peer has told the lane, and maps it. The caller ends
 * the mapping by tern_ofi_unmap. Returns 0, or TERN_ERR_UNSUPPORTED with text. */
int tern_ofi_key_take(struct tern_ofi_lane *lane, const struct tern_peer *peer, uint64_t number,
                      uint64_t *ret_key);
#endif
