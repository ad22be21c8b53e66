/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/transfer/offer.h"

#include "lib/accel/device_spare.h"
#include "lib/btl/ofi/fabric/device_choice.h"
#include "lib/btl/ofi/fabric/device_rails.h"
#include "lib/btl/ofi/fabric/region_cache.h"
#include "lib/btl/ofi/transfer/keys.h"
#include "lib/btl/ofi/wire/ofi_link.h"
#include "lib/btl/path.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

enum { STRIPE_LEAST = 512 << 10 /* bytes of a message that is read by several rails */ };

/* Memory of ours that a peer may read. */
struct offer {
    struct tern_ofi_kept *kept[TERN_OFI_RAILS];
    void *spare;                 /* a copy of the message in device memory of ours; or NULL */
    bool told;                   /* by ... */
    struct tern_ofi_key_out key; /* ... a number */
};

/* Returns true if the peer reads by the endpoint of this lane. The lanes of two ranks may have
 * different numbers. */
static bool is_read_here(const struct tern_ofi_lane *lane, const struct tern_ofi_link *link)
{
    return (link->their_lane & (tern_lane_count - 1)) == lane->index;
}

/* Sets *ret_key to how the peer names the memory by the rail. Returns 0, or TERN_ERR_UNSUPPORTED.
 */
static int name_memory(const struct tern_ofi_kept *kept, uint32_t rail, const void *start,
                       struct tern_ofi_rail_key *ret_key)
{
    uintptr_t zero = tern_ofi_fabric.virtual_addr ? 0 : kept->start - TERN_OFI_BIAS;
    *ret_key = (struct tern_ofi_rail_key){.address = (uintptr_t)start - zero, .rail = rail};
    if (tern_ofi_fabric.raw_keys)
        return tern_ofi_raw_key(&kept->region, &ret_key->raw);
    ret_key->key = fi_mr_key(kept->region.mr);
    return 0;
}

static void end_offer(struct offer *offer)
{
    for (uint32_t i = 0; i < TERN_OFI_RAILS; i++)
        tern_ofi_cache_put(offer->kept[i]);
    if (offer->spare)
        tern_accel_spare_give(offer->spare);
    free(offer);
}

/* Registers the memory for the rails by which the peer reads, of device memory for those that are
 * near it: all if the message is long, else the first. Sets keys, and returns their number; or
 * TERN_ERR_*. */
static int register_offer(struct tern_ofi_lane *lane, const struct tern_ofi_link *link,
                          const void *start, size_t length, struct offer *offer,
                          struct tern_ofi_rail_key keys[TERN_OFI_RAILS])
{
    int count = 0, rc = TERN_ERR_UNSUPPORTED;
    uint32_t usable = 0, near = tern_ofi_memory_rails(start);
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++)
        usable |= lane->ports[i].endpoint ? link->read_by & 1u << i : 0;
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++) {
        const struct tern_ofi_port *port = &lane->ports[i];
        if (!((usable & near ? usable & near : usable) >> i & 1) ||
            (count && length < STRIPE_LEAST))
            continue;
        rc = tern_ofi_cache_get(i, port->endpoint, start, length, FI_REMOTE_READ, &offer->kept[i]);
        if (!rc)
            rc = name_memory(offer->kept[i], i, start, &keys[count]);
        count += rc == 0;
        if (!rc && offer->kept[i]->by_id)
            tern_path_add(&link->peer->path, TERN_OFI_DEVICE_PATH);
    }
    return count ? count : rc;
}

int tern_ofi_register_memory(struct tern_peer *peer, const void *start, size_t length,
                             struct tern_registration *ret_registration)
{
    struct tern_ofi_link *link = peer->endpoint;
    struct tern_ofi_lane *lane = &tern_ofi_lanes[peer->lane];
    struct tern_ofi_rail_key keys[TERN_OFI_RAILS];
    if (link->state != TERN_OFI_OPEN)
        return tern_ofi_link_seek(lane, link);
    if (tern_ofi_fabric.by_endpoint && !is_read_here(lane, link))
        return tern_error(TERN_ERR_UNSUPPORTED, "the peer reads by another endpoint");
    if ((tern_ofi_fabric.raw_keys || link->failover.keeps) && !link->port->free_sends)
        return TERN_ERR_AGAIN; /* no room to tell keys */
    struct offer *offer = calloc(1, sizeof *offer);
    if (!offer)
        return TERN_ERR_NO_MEM;
    int rc = register_offer(lane, link, start, length, offer, keys);
    if (rc > 0) {
        *ret_registration = (struct tern_registration){
            .address = keys[0].address, .key = keys[0].key, .handle = offer};
        offer->told = rc > 1 || keys[0].rail > 0 || tern_ofi_fabric.raw_keys;
        rc = offer->told ? tern_ofi_keys_tell(lane, link, keys, (uint32_t)rc, &offer->key) : 0;
    }
    if (rc) {
        end_offer(offer);
        return rc;
    }
    if (offer->told) {
        ret_registration->address = TERN_OFI_BY_NUMBER;
        ret_registration->key = offer->key.number;
    }
    lane->offer_count++;
    return 0;
}

int tern_ofi_register_copy(struct tern_peer *peer, struct tern_cursor *cursor,
                           struct tern_registration *ret_registration)
{
    struct tern_ofi_link *link = peer->endpoint;
    size_t length = (size_t)cursor->length;
    if (link->state != TERN_OFI_OPEN)
        return tern_ofi_link_seek(&tern_ofi_lanes[peer->lane], link);
    if ((tern_ofi_fabric.raw_keys || link->failover.keeps) && !link->port->free_sends)
        return TERN_ERR_AGAIN;
    void *spare = cursor->place ? tern_accel_spare_take(cursor->place, length) : NULL;
    if (!spare)
        return TERN_ERR_UNSUPPORTED;
    struct tern_registration registration;
    int rc = tern_ofi_register_memory(peer, spare, length, &registration);
    if (rc) {
        tern_accel_spare_give(spare);
        if (rc != TERN_ERR_AGAIN)
            tern_ofi_devices_refused(rc);
        return rc;
    }
    ((struct offer *)registration.handle)->spare = spare;
    if (tern_cursor_pack(cursor, spare, length) == length && !cursor->error) {
        *ret_registration = registration;
        return 0;
    }
    tern_ofi_deregister_memory(peer, &registration);
    return TERN_ERR_UNSUPPORTED; /* the way through the host says what is wrong with the buffer */
}

void tern_ofi_deregister_memory(struct tern_peer *peer,
                                const struct tern_registration *registration)
{
    struct offer *offer = registration->handle;
    tern_ofi_lanes[peer->lane].offer_count--;
    if (offer->told)
        tern_ofi_key_end(&offer->key);
    end_offer(offer);
}
