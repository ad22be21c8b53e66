/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The byte mover of device memory between ranks of a node (CUDA IPC). It makes transfers only;
 * packets go by shm. The receiver copies straight from the sender's device memory, on a stream of
 * its own, and asks an event whether the copy has ended.
 *
 * The sender need not order its work before the copy: a buffer is ready when the call is made. What
 * cannot be copied so the sender sends as packets, through the host.
 */

#include "lib/btl/btl.h"
#include "lib/btl/ipc/ipc.h"
#include "lib/btl/path.h"
#include "lib/btl/peer.h"
#include "lib/node/segment.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

extern const struct tern_btl tern_btl_shm;

/* A copy under way. */
struct copy {
    struct tern_list_node link;
    struct tern_transfer *transfer;
    struct tern_ipc_import *import; /* NULL: memory of this process */
    struct tern_accel_mark mark;
    struct tern_cursor cursor; /* behind the bytes */
};

/* Copies under way, by lane. Locks: the lane's lock. */
static struct tern_list_node copies[TERN_LANES_MAX];

static int ipc_init(void)
{
    if (!tern_accel_watched)
        return tern_error(TERN_ERR_UNSUPPORTED, "no device memory");
    for (uint32_t i = 0; i < TERN_LANES_MAX; i++)
        tern_list_init(&copies[i]);
    return 0;
}

static void ipc_leave(void)
{
    tern_ipc_forget_imports();
    tern_ipc_forget_exports();
}

static bool ipc_reaches(uint32_t job, uint32_t rank)
{
    return job == 0 &&
           (rank == tern_rte.rank ||
            (tern_rte_local_rank(rank) >= 0 && tern_btl_active(&tern_btl_shm)));
}

static int ipc_connect_bulk(struct tern_peer *peer)
{
    (void)peer;
    return 0;
}

/* Starts the copy of a transfer from an address of this process. Returns 0 or TERN_ERR_*. */
static int start(struct copy *copy, const char *from, const struct tern_accel_place *place)
{
    struct tern_transfer *transfer = copy->transfer;
    struct tern_accel_batch batch;
    struct tern_accel_place own;
    bool direct = copy->cursor.memory && (copy->import || (tern_accel_find(from, &own) &&
                                                           tern_accel_same(&own, place)));
    tern_accel_begin(&batch, copy->cursor.memory ? copy->cursor.base : from, place);
    tern_cursor_start_unpack(&copy->cursor, &batch, from, transfer->length, direct);
    return tern_accel_end_later(&batch, &copy->mark);
}

static void end(struct copy *copy, int error)
{
    struct tern_transfer *transfer = copy->transfer;
    if (copy->import)
        tern_ipc_release(copy->import);
    if (!error) {
        transfer->cursor = copy->cursor;
        transfer->address += transfer->length;
        transfer->length = 0;
    }
    free(copy);
    transfer->done(transfer, error);
}

/* Finds where this process reaches the bytes of a transfer, and where it copies them: in the
 * context of our buffer, or of the memory that was opened. Returns false if it cannot. */
static bool find_source(struct copy *copy, const char **ret_from,
                        struct tern_accel_place *ret_place)
{
    struct tern_transfer *transfer = copy->transfer;
    const struct tern_cursor *to = &transfer->cursor;
    const struct tern_accel_place *place = to->memory ? to->place : NULL;
    if (to->memory == TERN_TYPE_MIXED || (to->memory && !place))
        return false;
    if (!to->memory && tern_cursor_many_runs(to, (int64_t)transfer->length))
        return false; /* the sender packs; unpacked by the processor */
    if (transfer->peer->rank == tern_rte.rank) {
        *ret_from = (const char *)(uintptr_t)transfer->address;
        if (!place)
            return tern_accel_find(*ret_from, ret_place);
        *ret_place = *place;
        return true;
    }
    copy->import = tern_ipc_find_import((uint32_t)tern_rte_local_rank(transfer->peer->rank),
                                        transfer, place);
    if (!copy->import)
        return false;
    *ret_from = copy->import->opened.base + (transfer->address - copy->import->shared.base);
    *ret_place = place && place->context ? *place : copy->import->opened.place;
    return true;
}

static int ipc_get(struct tern_transfer *transfer)
{
    struct copy *copy = malloc(sizeof *copy);
    const char *from;
    struct tern_accel_place place;
    if (!copy) {
        transfer->done(transfer, TERN_ERR_UNSUPPORTED);
        return 0;
    }
    *copy = (struct copy){.transfer = transfer, .cursor = transfer->cursor};
    /* if the driver refuses the copy, the sender's own copies show at which end the fault is */
    if (find_source(copy, &from, &place) && start(copy, from, &place) == 0) {
        tern_list_append(&copies[transfer->peer->lane], &copy->link);
        if (copy->import)
            tern_path_add(&transfer->peer->path, TERN_IPC_PATH);
    } else {
        end(copy, TERN_ERR_UNSUPPORTED);
    }
    return 0;
}

static int ipc_progress(uint32_t lane)
{
    int count = 0;
    for (struct tern_list_node *at = copies[lane].next, *next; at != &copies[lane]; at = next) {
        struct copy *copy = TERN_CONTAINER(at, struct copy, link);
        next = at->next;
        int error = tern_accel_test(&copy->mark);
        if (error == TERN_ERR_AGAIN)
            continue;
        tern_list_remove(&copy->link);
        end(copy, error);
        count++;
    }
    return count;
}

/* No doorbell tells that a copy has ended. */
static bool ipc_before_sleep(uint32_t lane)
{
    return tern_list_empty(&copies[lane]);
}

static void release(void *opened)
{
    tern_ipc_release(opened);
}

static const struct tern_device_access device_access = {.share = tern_ipc_share,
                                                        .unshare = tern_ipc_unshare,
                                                        .open = tern_ipc_open,
                                                        .release = release};

const struct tern_btl tern_btl_ipc = {
    .name = "ipc",
    .devices = true,
    .init = ipc_init,
    .finalize = ipc_leave,
    .leave = ipc_leave,
    .reaches = ipc_reaches,
    .connect_bulk = ipc_connect_bulk,
    .register_memory = tern_ipc_register,
    .register_copy = tern_ipc_register_copy,
    .deregister_memory = tern_ipc_deregister,
    .get = ipc_get,
    .device_access = &device_access,
    .progress = ipc_progress,
    .before_sleep = ipc_before_sleep,
};
