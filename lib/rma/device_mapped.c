/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/rma/device_mapped.h"

#include "lib/accel/accel.h"
#include "lib/btl/device_access.h"
#include "lib/type/device_reduce.h"

uint64_t tern_rma_device_share(const void *base)
{
    const struct tern_device_access *access = tern_btl_device_access();
    return access ? access->share(base) : 0;
}

void tern_rma_device_unshare(uint64_t key)
{
    if (key)
        tern_btl_device_access()->unshare(key);
}

void tern_rma_device_open(struct tern_rma_target *target, bool self,
                          const struct tern_rma_offer *offer, const void *mine)
{
    const struct tern_device_access *access = tern_btl_device_access();
    struct tern_accel_place place;
    if (self) {
        target->device = (char *)(uintptr_t)offer->address;
        return;
    }
    if (!offer->key || !access)
        return;
    /* where this rank has memory of the window, too, it copies most */
    bool found = tern_accel_find(mine, &place) && place.context;
    target->import =
        access->open((uint32_t)target->node_rank, offer->key, offer->address,
                     (uint64_t)offer->size, found ? &place : NULL, &target->device);
}

void tern_rma_device_close(struct tern_rma_target *target)
{
    if (target->import)
        tern_btl_device_access()->release(target->import);
    target->import = NULL;
    target->device = NULL;
}

static char *place_of(const struct tern_rma_operation *operation)
{
    return operation->target->device + operation->at;
}

static int put(const struct tern_rma_operation *operation)
{
    const struct tern_rma_buffer *origin = operation->origin;
    int64_t copied = tern_type_copy(place_of(operation), operation->count, operation->type,
                                    origin->base, origin->count, origin->type);
    return copied < 0 ? (int)copied : 0;
}

static int get(const struct tern_rma_operation *operation)
{
    const struct tern_rma_buffer *result = operation->result;
    int64_t copied = tern_type_copy((void *)result->base, result->count, result->type,
                                    place_of(operation), operation->count, operation->type);
    return copied < 0 ? (int)copied : 0;
}

/* Completes the operation, unless it has failed. */
static int end(const struct tern_rma_operation *operation, int error)
{
    if (!error)
        tern_rma_complete_now(operation);
    return error;
}

static int device_put(const struct tern_rma_operation *operation)
{
    return end(operation, put(operation));
}

static int device_get(const struct tern_rma_operation *operation)
{
    return end(operation, get(operation));
}

/* ---- accumulates ---- */

static void combine_on_host(void *combine, const void *in, void *inout, int64_t count)
{
    tern_rma_combine_run(combine, NULL, inout, in, NULL, count);
}

/* Returns true if a buffer is elements of one predefined type, one after the other. */
static bool is_plain(const struct tern_rma_combine *combine, const struct tern_type *type)
{
    return type->contiguous && type->size == combine->packed;
}

static int combine(const struct tern_rma_operation *operation)
{
    const struct tern_rma_combine *combine = operation->combine;
    bool moves = combine->op == TERN_REDUCE_NO_OP || combine->op == TERN_REDUCE_REPLACE;
    if (operation->compare || (!moves && !(is_plain(combine, operation->type) &&
                                           is_plain(combine, operation->origin->type))))
        return tern_rma_in_pieces(operation, tern_rma_apply_by_copies);
    int rc = operation->result ? get(operation) : 0;
    if (rc || combine->op == TERN_REDUCE_NO_OP)
        return rc;
    if (combine->op == TERN_REDUCE_REPLACE)
        return put(operation);
    return tern_device_reduce(operation->type, operation->origin->base, place_of(operation),
                              operation->count, combine->op, combine_on_host, (void *)combine);
}

static int device_fetch(const struct tern_rma_operation *operation)
{
    struct tern_rma_control *control = operation->target->control;
    tern_rma_spin(&control->serial);
    int rc = combine(operation);
    tern_rma_unspin(&control->serial);
    return end(operation, rc);
}

const struct tern_rma_way tern_rma_device = {
    .put = device_put, .get = device_get, .fetch = device_fetch};
