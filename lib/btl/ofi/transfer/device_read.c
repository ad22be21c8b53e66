/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/transfer/device_read.h"

#include "lib/accel/device_spare.h"

static void begin(struct tern_ofi_target *target, const struct tern_transfer *transfer)
{
    *target = (struct tern_ofi_target){.cursor = transfer->cursor,
                                       .start = transfer->cursor.offset,
                                       .length = transfer->length};
}

bool tern_ofi_target_spare(struct tern_ofi_target *target, const struct tern_transfer *transfer,
                           struct tern_cursor *ret_cursor)
{
    const struct tern_cursor *to = &transfer->cursor;
    void *spare = NULL;
    if (to->memory == TERN_TYPE_DEVICE && to->place)
        spare = tern_accel_spare_take(to->place, transfer->length);
    if (!spare)
        return false;
    begin(target, transfer);
    target->spare = spare;
    tern_cursor_init_in(ret_cursor, &tern_type_bytes, spare, (int64_t)transfer->length,
                        TERN_TYPE_DEVICE);
    return true;
}

void tern_ofi_target_land(struct tern_ofi_target *target, const struct tern_transfer *transfer)
{
    begin(target, transfer);
    target->lands = true;
    tern_cursor_stage(&target->cursor);
}

void tern_ofi_target_landed(struct tern_ofi_target *target, uint64_t offset, const void *bytes,
                            size_t length)
{
    tern_cursor_seek(&target->cursor, target->start + (int64_t)offset);
    tern_cursor_unpack(&target->cursor, bytes, length);
}

/* Starts to unpack from our device memory. Returns 0 or TERN_ERR_*. */
static int start(struct tern_ofi_target *target)
{
    struct tern_accel_batch batch;
    tern_accel_begin(&batch, target->spare, target->cursor.place);
    tern_cursor_start_unpack(&target->cursor, &batch, target->spare, target->length, true);
    target->unpacking = true;
    return tern_accel_end_later(&batch, &target->mark);
}

int tern_ofi_target_end(struct tern_ofi_target *target)
{
    if (target->spare) {
        int rc = target->unpacking ? 0 : start(target);
        return rc ? rc : tern_accel_test(&target->mark);
    }
    if (target->lands) {
        tern_cursor_settle(&target->cursor);
        return target->cursor.error;
    }
    return 0;
}

void tern_ofi_target_free(struct tern_ofi_target *target)
{
    if (target->spare)
        tern_accel_spare_give(target->spare);
    if (target->lands)
        tern_cursor_unstage(&target->cursor);
    *target = (struct tern_ofi_target){0};
}
