/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/keys.h"

#include "lib/util/error.h"
#include "lib/util/log.h"

#include <stdlib.h>
#include <string.h>

enum { LANE_SHIFT = 56 }; /* of the lane in a number */

/* A key that the other end has told. */
struct key_in {
    struct tern_list_node node;
    uint64_t number;
    struct tern_ofi_raw_key key;
};

static struct key_in *key_at(struct tern_list_node *node)
{
    return TERN_CONTAINER(node, struct key_in, node);
}

/* ---- the owner of the memory ---- */

/* Returns the number of the oldest key of the link whose registration has not ended; `next` if
 * there is none. */
static uint64_t oldest_of(struct tern_ofi_link *link, uint64_t next)
{
    struct tern_list_node *first = link->keys_out.next;
    return first == &link->keys_out ? next
                                    : TERN_CONTAINER(first, struct tern_ofi_key_out, node)->number;
}

int tern_ofi_key_tell(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                      const struct tern_ofi_region *region, struct tern_ofi_key_out *ret_key)
{
    struct tern_ofi_key_frame frame = {.head = {.slot = link->their_slot,
                                                .cookie = link->their_cookie,
                                                .number = link->next_out,
                                                .kind = TERN_OFI_KEY,
                                                .order = TERN_OFI_ORDER}};
    if (tern_ofi_raw_key(region, &frame.key))
        return TERN_ERR_UNSUPPORTED;
    struct tern_ofi_send *send = tern_ofi_take_send(lane);
    if (!send)
        return TERN_ERR_AGAIN;
    /* one lane of ours tells keys to a peer by one link: this number is unique among ours */
    frame.number = (uint64_t)lane->index << LANE_SHIFT | (link->keys_told + 1);
    frame.oldest = oldest_of(link, frame.number);
    size_t length = offsetof(struct tern_ofi_key_frame, key.bytes) + frame.key.length;
    memcpy(send->bytes, &frame, length);
    int rc = tern_ofi_post(lane, link, send, length);
    if (rc) {
        if (rc != TERN_ERR_AGAIN)
            tern_ofi_link_failed(lane, link, rc);
        return TERN_ERR_AGAIN;
    }
    link->next_out++;
    link->keys_told++;
    ret_key->number = frame.number;
    tern_list_append(&link->keys_out, &ret_key->node);
    return 0;
}

void tern_ofi_key_end(struct tern_ofi_key_out *key)
{
    tern_list_remove(&key->node);
}

/* ---- the other end ---- */

bool tern_ofi_key_is_sane(const unsigned char *bytes, size_t length)
{
    struct tern_ofi_key_frame frame;
    size_t head = offsetof(struct tern_ofi_key_frame, key.bytes);
    if (length < head || length > sizeof frame)
        return false;
    memcpy(&frame, bytes, head);
    return frame.key.length == length - head;
}

static void forget(struct key_in *key)
{
    tern_list_remove(&key->node);
    free(key);
}

void tern_ofi_key_arrived(struct tern_ofi_link *link, const unsigned char *bytes, size_t length)
{
    struct tern_ofi_key_frame frame;
    struct key_in *key = calloc(1, sizeof *key);
    if (!key) {
        tern_log("no memory for the key of a message");
        abort();
    }
    memcpy(&frame, bytes, length);
    key->number = frame.number;
    key->key = frame.key;
    /* keys of messages that came by another way */
    while (!tern_list_empty(&link->keys_in) && key_at(link->keys_in.next)->number < frame.oldest)
        forget(key_at(link->keys_in.next));
    tern_list_append(&link->keys_in, &key->node);
}

static struct key_in *find(struct tern_ofi_link *link, uint64_t number)
{
    for (struct tern_list_node *at = link->keys_in.next; at != &link->keys_in; at = at->next)
        if (key_at(at)->number == number)
            return key_at(at);
    return NULL;
}

int tern_ofi_key_take(struct tern_ofi_lane *lane, const struct tern_peer *peer, uint64_t number,
                      uint64_t *ret_key)
{
    struct key_in *key = NULL;
    for (struct tern_list_node *at = lane->links.next; at != &lane->links && !key; at = at->next) {
        struct tern_ofi_link *link = TERN_CONTAINER(at, struct tern_ofi_link, in_lane);
        if (link->peer == peer)
            key = find(link, number);
    }
    if (!key)
        return tern_error(TERN_ERR_UNSUPPORTED, "rank %u has not told the key of its memory",
                          peer->rank);
    int rc = tern_ofi_map(&key->key, ret_key);
    forget(key);
    return rc;
}

void tern_ofi_keys_forget(struct tern_ofi_link *link)
{
    while (!tern_list_empty(&link->keys_in))
        forget(key_at(link->keys_in.next));
}
