/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Copies from and to device memory, on streams of our own, one for each context. They do not wait
 * for the program's streams, so a kernel that waits for a message cannot block the message.
 *
 * A context may be destroyed, and another one made at its address. Its stream is then invalid; the
 * copy is begun again once, with a new stream.
 */
#include "lib/accel/accel.h"
#include "lib/accel/cuda_driver.h"
#include "lib/accel/device_pointer.h"
#include "lib/util/error.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum { CONTEXTS = 64 };

/* The streams, by context; when all places are taken, the oldest is used again. */
static struct {
    void *context;
    tern_cu_stream stream;
} streams[CONTEXTS];
static unsigned streams_made;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static int say(const struct tern_cu_driver *driver, const char *what, int result)
{
    const char *name = NULL, *text = NULL;
    driver->error_name(result, &name);
    driver->error_text(result, &text);
    return tern_error(TERN_ERR_BUFFER,
                      "the CUDA driver could not %s: %s (%s); the buffer was freed, or its context "
                      "destroyed, or a kernel before this call failed",
                      what, name ? name : "unknown error", text ? text : "no text");
}

static void fail(const struct tern_cu_driver *driver, struct tern_accel_batch *batch,
                 const char *what, int result)
{
    if (result && !batch->error)
        batch->error = say(driver, what, result);
}

/* Returns the stream of the current context. With `again`, makes a new one. */
static int find_stream(const struct tern_cu_driver *driver, void *context, bool again,
                       tern_cu_stream *ret_stream)
{
    int result = 0;
    unsigned i = 0;
    pthread_mutex_lock(&gate);
    while (i < CONTEXTS && streams[i].context != context)
        i++;
    if (i == CONTEXTS) {
        i = streams_made++ % CONTEXTS;
        again = true;
    }
    if (again) {
        streams[i].context = NULL;
        result = driver->stream_create(&streams[i].stream, TERN_CU_STREAM_NON_BLOCKING);
        if (!result)
            streams[i].context = context;
    }
    *ret_stream = streams[i].stream;
    pthread_mutex_unlock(&gate);
    return result;
}

/* Lets the program's own synchronous copies from and to a buffer end before they return, from now
 * on (CUDA driver API, cuPointerSetAttribute): else the buffer might still change. Done once for
 * each buffer; ids that are not remembered any more cost a call again. */
static void make_synchronous(const struct tern_cu_driver *driver, const void *device, uint64_t id)
{
    enum { IDS = 256 };
    static uint64_t known[IDS]; /* atomic */
    unsigned on = 1;
    if (id && __atomic_load_n(&known[id % IDS], __ATOMIC_RELAXED) == id)
        return;
    driver->pointer_set(&on, TERN_CU_ATTRIBUTE_SYNC_MEMOPS, (uintptr_t)device);
    __atomic_store_n(&known[id % IDS], id, __ATOMIC_RELAXED);
}

/* Finds the context of a buffer. Memory without one (VMM, pools) is reached through its device's
 * primary context, if the program uses that. */
static void *context_of(const struct tern_cu_driver *driver,
                        const struct tern_device_pointer *pointer, int *ret_primary)
{
    unsigned flags;
    int active = 0;
    tern_cu_context context = NULL;
    *ret_primary = -1;
    if (pointer->context)
        return pointer->context;
    if (pointer->device >= 0 && driver->primary_state(pointer->device, &flags, &active) == 0 &&
        active && driver->primary_retain(&context, pointer->device) == 0)
        *ret_primary = pointer->device;
    return context;
}

void tern_accel_begin(struct tern_accel_batch *batch, const void *device)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    tern_cu_stream stream;
    struct tern_device_pointer pointer;
    *batch = (struct tern_accel_batch){.primary = -1};
    void *context = driver && tern_device_pointer_find(device, &pointer)
                        ? context_of(driver, &pointer, &batch->primary)
                        : NULL;
    int result = context ? driver->context_push(context) : TERN_CU_INVALID_CONTEXT;
    if (result) {
        batch->error = driver ? say(driver, "find the context of a buffer", result)
                              : tern_error(TERN_ERR_BUFFER, "there is no CUDA driver");
        return;
    }
    batch->context = context;
    make_synchronous(driver, device, pointer.id);
    result = find_stream(driver, context, false, &stream);
    fail(driver, batch, "make a stream", result);
    batch->stream = stream;
}

static bool lost_stream(int result)
{
    return result == TERN_CU_INVALID_HANDLE || result == TERN_CU_INVALID_CONTEXT ||
           result == TERN_CU_CONTEXT_IS_DESTROYED;
}

/* Starts a copy; with a new stream if the batch's stream went with its context. */
static int start(const struct tern_cu_driver *driver, struct tern_accel_batch *batch,
                 const struct tern_cu_copy_2d *rows, void *to, const void *from, size_t bytes)
{
    for (bool again = false;; again = true) {
        tern_cu_stream stream = batch->stream;
        int result = rows ? driver->copy_2d(rows, stream)
                          : driver->copy((uintptr_t)to, (uintptr_t)from, bytes, stream);
        if (!lost_stream(result) || again ||
            find_stream(driver, batch->context, true, &stream))
            return result;
        batch->stream = stream;
    }
}

void tern_accel_copy_in(struct tern_accel_batch *batch, void *to, const void *from, size_t bytes)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    if (batch->context && !batch->error && bytes)
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
    if (batch->context && !batch->error && bytes && rows)
        fail(driver, batch, "copy rows of a buffer", start(driver, batch, &copy, NULL, NULL, 0));
}

int tern_accel_end(struct tern_accel_batch *batch)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    tern_cu_context popped;
    if (!batch->context)
        return batch->error;
    /* also after an error: what was started before it must not run any longer */
    if (batch->stream)
        fail(driver, batch, "finish a copy", driver->stream_wait(batch->stream));
    driver->context_pop(&popped);
    if (batch->primary >= 0)
        driver->primary_release(batch->primary);
    return batch->error;
}

int tern_accel_copy(void *to, const void *from, size_t bytes)
{
    struct tern_accel_batch batch;
    bool to_device = tern_accel_is_device(to);
    if (!to_device && !tern_accel_is_device(from)) {
        memcpy(to, from, bytes);
        return 0;
    }
    tern_accel_begin(&batch, to_device ? to : from);
    tern_accel_copy_in(&batch, to, from, bytes);
    return tern_accel_end(&batch);
}
