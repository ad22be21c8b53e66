/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/transfer/exposed.h"

#include "lib/btl/ofi/fabric/libfabric.h"
#include "lib/btl/ofi/fabric/provider.h"
#include "lib/btl/ofi/fabric/region_cache.h"
#include "lib/btl/ofi/wire/ofi_link.h"
#include "lib/util/base/error.h"

#include <rdma/fi_rma.h>
#include <stdlib.h>

/* ---- the owner of the memory ---- */

int tern_ofi_expose(uint32_t index, const void *start, size_t length,
                    struct tern_exposure *ret_exposure)
{
    struct tern_ofi_lane *lane = &tern_ofi_lanes[index];
    const struct tern_ofi_fabric *fabric = &tern_ofi_fabric;
    if (fabric->raw_keys || fabric->rail_count > 1 || !tern_ofi_provider_copies(fabric->info) ||
        tern_ofi_lane_open(lane))
        return TERN_ERR_UNSUPPORTED;
    struct tern_ofi_port *port = &lane->ports[0];
    struct tern_ofi_exposed *exposed = calloc(1, sizeof *exposed);
    if (!exposed)
        return TERN_ERR_NO_MEM;
    int rc = tern_ofi_register(port->rail, port->endpoint, start, length,
                               FI_REMOTE_READ | FI_REMOTE_WRITE, &exposed->region);
    if (rc) {
        free(exposed);
        return rc;
    }
    tern_list_append(&port->exposed, &exposed->in_port);
    ret_exposure->handle = exposed;
    ret_exposure->address = fabric->virtual_addr ? (uintptr_t)start : 0;
    ret_exposure->key = fi_mr_key(exposed->region.mr);
    ret_exposure->by_lane = fabric->by_endpoint ? index : TERN_ANY_LANE;
    ret_exposure->guessable = fabric->own_keys || fabric->key_mask != UINT64_MAX;
    return 0;
}

void tern_ofi_conceal(const struct tern_exposure *exposure)
{
    struct tern_ofi_exposed *exposed = exposure->handle;
    tern_ofi_deregister(&exposed->region);
    tern_list_remove(&exposed->in_port);
    free(exposed);
}

/* ---- who copies ---- */

struct tern_ofi_copy {
    struct tern_ofi_op op;
    struct tern_list_node in_lane; /* in lane->copies, or lane->waiting_copies */
    struct tern_transfer *transfer;
    struct tern_ofi_link *link;
    struct tern_ofi_kept *kept; /* of our memory, if the provider wants that; else NULL */
};

bool tern_ofi_delivers(void)
{
    enum { ASK, NO, YES };
    int known = __atomic_load_n(&tern_ofi_fabric.delivers, __ATOMIC_RELAXED);
    if (known == ASK) {
        known = tern_ofi_provider_delivers(tern_ofi_fabric.info) ? YES : NO;
        __atomic_store_n(&tern_ofi_fabric.delivers, known, __ATOMIC_RELAXED);
    }
    return known == YES;
}

/* Begins the copy. Returns 0, or libfabric's error. */
static ssize_t begin(struct tern_ofi_copy *copy)
{
    const struct tern_transfer *transfer = copy->transfer;
    const struct tern_ofi_link *link = copy->link;
    void *desc = copy->kept ? copy->kept->region.desc : NULL;
    struct iovec here = {transfer->cursor.base, transfer->length};
    struct fi_rma_iov there = {transfer->address, transfer->length, transfer->key};
    struct fi_msg_rma message = {.msg_iov = &here,
                                 .desc = &desc,
                                 .iov_count = 1,
                                 .addr = link->address,
                                 .rma_iov = &there,
                                 .rma_iov_count = 1,
                                 .context = &copy->op};
    if (!transfer->to_peer)
        return fi_read(link->port->endpoint, transfer->cursor.base, transfer->length, desc,
                       link->address, transfer->address, transfer->key, &copy->op);
    return fi_writemsg(link->port->endpoint, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

static void end(struct tern_ofi_lane *lane, struct tern_ofi_copy *copy, int error)
{
    struct tern_transfer *transfer = copy->transfer;
    tern_list_remove(&copy->in_lane);
    lane->copy_count--;
    tern_ofi_cache_put(copy->kept);
    free(copy);
    transfer->done(transfer, error);
}

static int copy_ended(struct tern_ofi_port *port, struct tern_ofi_op *op,
                      const struct fi_cq_data_entry *entry, int error)
{
    (void)entry;
    end(port->lane, TERN_CONTAINER(op, struct tern_ofi_copy, op),
        error ? TERN_ERR_UNSUPPORTED : 0);
    return 1;
}

bool tern_ofi_copies_reach(const struct tern_ofi_link *link, uint32_t by_lane)
{
    return link->state == TERN_OFI_OPEN && !link->failed_ms && !link->failover.keeps &&
           (by_lane == TERN_ANY_LANE || link->their_lane == by_lane);
}

int tern_ofi_copy_direct(struct tern_transfer *transfer)
{
    struct tern_ofi_link *link = transfer->peer->endpoint;
    struct tern_ofi_lane *lane = &tern_ofi_lanes[transfer->peer->lane];
    if (!tern_ofi_copies_reach(link, transfer->by_lane) ||
        transfer->length > tern_ofi_fabric.message_max ||
        (transfer->to_peer && !tern_ofi_delivers()))
        return TERN_ERR_UNSUPPORTED;
    struct tern_ofi_copy *copy = calloc(1, sizeof *copy);
    if (!copy)
        return TERN_ERR_UNSUPPORTED;
    *copy = (struct tern_ofi_copy){.op.ended = copy_ended, .transfer = transfer, .link = link};
    if (tern_ofi_fabric.local_keys &&
        tern_ofi_cache_get(0, link->port->endpoint, transfer->cursor.base, transfer->length,
                           transfer->to_peer ? FI_WRITE : FI_READ, &copy->kept)) {
        free(copy);
        return TERN_ERR_UNSUPPORTED;
    }
    /* Copies that wait already begin first: else later ones could overtake them again and again */
    ssize_t error = tern_list_empty(&lane->waiting_copies) ? begin(copy) : -FI_EAGAIN;
    if (error && error != -FI_EAGAIN) {
        tern_ofi_cache_put(copy->kept);
        free(copy);
        return TERN_ERR_UNSUPPORTED;
    }
    tern_list_append(error ? &lane->waiting_copies : &lane->copies, &copy->in_lane);
    lane->copy_count++;
    return 0;
}

int tern_ofi_copies_go_on(struct tern_ofi_lane *lane)
{
    int count = 0;
    while (!tern_list_empty(&lane->waiting_copies)) {
        struct tern_ofi_copy *copy =
            TERN_CONTAINER(lane->waiting_copies.next, struct tern_ofi_copy, in_lane);
        ssize_t error = copy->link->state == TERN_OFI_OPEN ? begin(copy) : -FI_ENOTCONN;
        if (error == -FI_EAGAIN)
            break;
        count++;
        if (error) {
            end(lane, copy, TERN_ERR_UNSUPPORTED);
        } else {
            tern_list_remove(&copy->in_lane);
            tern_list_append(&lane->copies, &copy->in_lane);
        }
    }
    return count;
}

void tern_ofi_copies_free(struct tern_ofi_lane *lane)
{
    struct tern_list_node *lists[] = {&lane->copies, &lane->waiting_copies};
    for (int i = 0; i < 2; i++)
        while (!tern_list_empty(lists[i])) {
            struct tern_ofi_copy *copy =
                TERN_CONTAINER(lists[i]->next, struct tern_ofi_copy, in_lane);
            tern_list_remove(&copy->in_lane);
            tern_ofi_cache_put(copy->kept);
            free(copy);
        }
}
