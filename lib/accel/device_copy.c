/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Copies from and to device memory, on streams of our own, one for each context. They do not wait
 * for the program's streams, so a kernel that waits for a message cannot block the message.
 */
#include "lib/accel/device_context.h"
#include "lib/accel/device_pinned.h"
#include "lib/util/base/error.h"

#include <stdint.h>
#include <string.h>

static void fail(const struct tern_cu_driver *driver, struct tern_accel_batch *batch,
                 const char *what, int result)
{
    if (result && !batch->error)
        batch->error = tern_cu_say(driver, what, result);
}

void tern_accel_begin(struct tern_accel_batch *batch, const void *device,
                      const struct tern_accel_place *place)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    tern_cu_stream stream = NULL;
    struct tern_accel_place found;
    *batch = (struct tern_accel_batch){0};
    if (!place)
        place = tern_accel_find(device, &found) ? &found : NULL;
    if (place && place->device == TERN_ACCEL_FREED) {
        batch->error = tern_error(TERN_ERR_BUFFER,
                                  "a buffer was in device memory that is not there any more: it "
                                  "was freed or unmapped, or its context was destroyed");
        return;
    }
    int result = place ? tern_cu_enter(driver, place, &batch->entry) : TERN_CU_INVALID_CONTEXT;
    if (result) {
        batch->error = driver ? tern_cu_say(driver, "find the context of a buffer", result)
                              : tern_error(TERN_ERR_BUFFER, "there is no CUDA driver");
        return;
    }
    result = tern_cu_find_stream(driver, &batch->entry, false, &stream);
    fail(driver, batch, "make a stream", result);
    batch->stream = stream;
}

/* Starts a copy; with a new stream if the batch's stream went with its context. */
static int start(const struct tern_cu_driver *driver, struct tern_accel_batch *batch,
                 const struct tern_cu_copy_2d *rows, void *to, const void *from, size_t bytes)
{
    for (bool again = false;; again = true) {
        tern_cu_stream stream = batch->stream;
        int result = rows ? driver->copy_2d(rows, stream)
                          : driver->copy((uintptr_t)to, (uintptr_t)from, bytes, stream);
        if (!tern_cu_lost(result) || again ||
            tern_cu_find_stream(driver, &batch->entry, true, &stream))
            return result;
        batch->stream = stream;
    }
}

void tern_accel_copy_in(struct tern_accel_batch *batch, void *to, const void *from, size_t bytes)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    if (batch->entry.context && !batch->error && bytes)
        fail(driver, batch, "copy a buffer", start(driver, batch, NULL, to, from, bytes));
}

static int type_of(const void *address)
{
    return tern_accel_is_device(address) ? TERN_CU_DEVICE : TERN_CU_HOST;
}

void tern_accel_copy_rows(struct tern_accel_batch *batch, void *to, size_t to_stride,
                          const void *from, size_t from_stride, size_t bytes, size_t rows)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_cu_copy_2d copy = {.from_type = type_of(from),
                                   .from_host = from,
                                   .from_device = (uintptr_t)from,
                                   .from_pitch = from_stride,
                                   .to_type = type_of(to),
                                   .to_host = to,
                                   .to_device = (uintptr_t)to,
                                   .to_pitch = to_stride,
                                   .width = bytes,
                                   .height = rows};
    if (batch->entry.context && !batch->error && bytes && rows)
        fail(driver, batch, "copy rows of a buffer", start(driver, batch, &copy, NULL, NULL, 0));
}

void tern_accel_catch_up(struct tern_accel_batch *batch)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    if (batch->entry.context && batch->stream)
        fail(driver, batch, "finish a copy", driver->stream_wait(batch->stream));
}

int tern_accel_end(struct tern_accel_batch *batch)
{
    tern_accel_catch_up(batch); /* also after an error: what was started before it must end */
    if (batch->list)
        tern_accel_pinned_give(batch->list);
    if (batch->entry.context)
        tern_cu_leave(tern_cu_driver(), &batch->entry);
    return batch->error;
}

int tern_accel_end_later(struct tern_accel_batch *batch, struct tern_accel_mark *ret_mark)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    void *context = batch->entry.context;
    tern_cu_event event = NULL;
    int result = TERN_CU_INVALID_CONTEXT;
    /* an event may have gone with its context */
    for (int tries = 0; context && !batch->error && tern_cu_lost(result) && tries < 3; tries++) {
        result = tern_cu_take_event(driver, context, &event);
        if (!result)
            result = driver->event_record(event, batch->stream);
    }
    if (result)
        return tern_accel_end(batch);
    *ret_mark = (struct tern_accel_mark){event, context, batch->list,
                                         tern_cu_leave_held(driver, &batch->entry)};
    return 0;
}

int tern_accel_test(struct tern_accel_mark *mark)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    if (!mark->event)
        return 0;
    int result = driver->event_query(mark->event);
    if (result == TERN_CU_NOT_READY)
        return TERN_ERR_AGAIN;
    if (result)
        driver->event_destroy(mark->event);
    else
        tern_cu_give_event(driver, mark->context, mark->event);
    if (mark->primary >= 0)
        driver->primary_release(mark->primary);
    if (mark->list)
        tern_accel_pinned_give(mark->list);
    mark->event = NULL;
    return result ? tern_cu_say(driver, "finish a copy", result) : 0;
}

int tern_accel_wait(struct tern_accel_mark *mark)
{
    if (mark->event)
        tern_cu_driver()->event_wait(mark->event); /* an error is seen by the test, too */
    return tern_accel_test(mark);
}

int tern_accel_copy(void *to, const void *from, size_t bytes)
{
    struct tern_accel_batch batch;
    struct tern_accel_place place;
    bool to_device = tern_accel_find(to, &place);
    if (!to_device && !tern_accel_find(from, &place)) {
        memcpy(to, from, bytes);
        return 0;
    }
    tern_accel_begin(&batch, to_device ? to : from, &place);
    tern_accel_copy_in(&batch, to, from, bytes);
    return tern_accel_end(&batch);
}
