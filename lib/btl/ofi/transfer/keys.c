/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/transfer/keys.h"

#include "lib/btl/ofi/wire/failover.h"
#include "lib/btl/ofi/wire/routes.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <stdlib.h>
#include <string.h>

enum { LANE_SHIFT = 56 }; /* of the lane in a number */

/* Keys that the other end has told, as they travelled. */
struct key_in {
    struct tern_list_node node;
    uint64_t number;
    uint32_t count;
    size_t length;
    unsigned char keys[];
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

/* Returns the bytes that a key takes in a frame. */
static size_t bytes_of(const struct tern_ofi_rail_key *key)
{
    return offsetof(struct tern_ofi_rail_key, raw.bytes) + key->raw.length;
}

int tern_ofi_keys_tell(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                       const struct tern_ofi_rail_key *keys, uint32_t count,
                       struct tern_ofi_key_out *ret_key)
{
    struct tern_ofi_key_frame frame = {.head = {.slot = link->their_slot,
                                                .cookie = link->their_cookie,
                                                .number = link->next_out,
                                                .kind = TERN_OFI_KEY,
                                                .order = TERN_OFI_ORDER},
                                       .count = count};
    struct tern_ofi_send *send = tern_ofi_take_send(link->port);
    if (!send)
        return TERN_ERR_AGAIN;
    /* one lane of ours tells keys to a peer by one link: this number is unique among ours */
    frame.number = (uint64_t)lane->index << LANE_SHIFT | (link->keys_told + 1);
    frame.oldest = oldest_of(link, frame.number);
    size_t length = offsetof(struct tern_ofi_key_frame, keys);
    memcpy(send->bytes, &frame, length);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(send->bytes + length, &keys[i], bytes_of(&keys[i]));
        length += bytes_of(&keys[i]);
    }
    struct tern_ofi_port *port = link->port;
    const unsigned char *bytes = send->bytes;
    int rc = tern_ofi_post(link, send, length);
    if (rc) {
        if (rc != TERN_ERR_AGAIN)
            tern_ofi_route_failed(link, port, rc);
        return TERN_ERR_AGAIN;
    }
    tern_ofi_keep_frame(link, link->next_out++, bytes, length);
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

/* Reads the next key out of `length` bytes. Returns the bytes that it takes; 0 if it is none. */
static size_t read_key(const unsigned char *bytes, size_t length, struct tern_ofi_rail_key *ret_key)
{
    size_t head = offsetof(struct tern_ofi_rail_key, raw.bytes);
    *ret_key = (struct tern_ofi_rail_key){0};
    if (length < head)
        return 0;
    memcpy(ret_key, bytes, head);
    if (ret_key->raw.length > TERN_OFI_KEY_MAX || ret_key->raw.length > length - head ||
        ret_key->rail >= TERN_OFI_RAILS)
        return 0;
    memcpy(ret_key->raw.bytes, bytes + head, ret_key->raw.length);
    return head + ret_key->raw.length;
}

bool tern_ofi_key_is_sane(const unsigned char *bytes, size_t length)
{
    struct tern_ofi_key_frame frame;
    struct tern_ofi_rail_key key;
    size_t at = offsetof(struct tern_ofi_key_frame, keys);
    if (length < at)
        return false;
    memcpy(&frame, bytes, at);
    if (!frame.count || frame.count > TERN_OFI_RAILS)
        return false;
    for (uint32_t i = 0; i < frame.count; i++) {
        size_t next = read_key(bytes + at, length - at, &key);
        if (!next)
            return false;
        at += next;
    }
    return at == length;
}

static void forget(struct key_in *key)
{
    tern_list_remove(&key->node);
    free(key);
}

void tern_ofi_key_arrived(struct tern_ofi_link *link, const unsigned char *bytes, size_t length)
{
    struct tern_ofi_key_frame frame;
    size_t head = offsetof(struct tern_ofi_key_frame, keys);
    struct key_in *key = malloc(sizeof *key + length - head);
    if (!key) {
        tern_log("no memory for the keys of a message");
        abort();
    }
    memcpy(&frame, bytes, head);
    key->number = frame.number;
    key->count = frame.count;
    key->length = length - head;
    memcpy(key->keys, bytes + head, length - head);
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

int tern_ofi_keys_take(struct tern_ofi_lane *lane, const struct tern_peer *peer, uint64_t number,
                       struct tern_ofi_rail_key ret_keys[TERN_OFI_RAILS])
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
    int count = (int)key->count;
    size_t at = 0;
    for (int i = 0; i < count; i++)
        at += read_key(key->keys + at, key->length - at, &ret_keys[i]);
    forget(key);
    return count;
}

void tern_ofi_keys_free(struct tern_ofi_lane *lane)
{
    for (uint32_t i = 0; i < lane->slot_count; i++)
        while (!tern_list_empty(&lane->by_slot[i]->keys_in))
            forget(key_at(lane->by_slot[i]->keys_in.next));
}
