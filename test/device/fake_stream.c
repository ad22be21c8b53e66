/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Streams, copies and events. Operations of a stream are done in order, but as late as the driver
 * may do them: when somebody waits, or asks for the third time. Who does not wait sees the old bytes.
 * With FAKE_CUDA_DELAY_US each stream is a thread: operations of several streams run in any order,
 * and an operation that was not to be begun yet is begun.
 */
#define _GNU_SOURCE
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STREAMS = 256, EVENTS = 4096, ASKED_IN_VAIN = 2 };

struct CUevent_st {
    struct CUctx_st *context;
    struct CUstream_st *stream; /* on which it was recorded last */
    uint64_t recorded, reached; /* numbers of records: queued and done */
    int asked;
    bool alive;
};

struct operation {
    enum { COPY, LAUNCH, RECORD, WAIT } kind;
    struct tern_cu_copy_2d rows; /* width and height of a plain copy: bytes and 1 */
    struct fake_launch launch;
    void *kept; /* a copy of what is copied; NULL: none */
    struct CUevent_st *event;
    uint64_t number; /* of the record */
    struct operation *next;
};

struct CUstream_st {
    struct CUctx_st *context;
    struct operation *first, **last;
    bool alive, busy, threaded;
    bool legacy; /* its context's default stream */
    int error; /* of an operation that failed */
    int asked;
    pthread_t thread;
};

static struct CUstream_st streams[STREAMS];
static struct CUevent_st events[EVENTS];
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long copies, delay_us = -1;
static long bytes_between[FAKE_DEVICES][FAKE_DEVICES]; /* copied */

long fake_cuda_bytes(int from, int to)
{
    pthread_mutex_lock(&fake_gate);
    long bytes = bytes_between[from][to];
    pthread_mutex_unlock(&fake_gate);
    return bytes;
}

static long delay(void)
{
    if (delay_us < 0) {
        const char *text = getenv("FAKE_CUDA_DELAY_US");
        delay_us = text ? atol(text) : 0;
    }
    return delay_us;
}

/* ---- operations; the gate is closed ---- */

static bool reachable(int type, const void *host, tern_cu_addr device, size_t pitch,
                      const struct tern_cu_copy_2d *copy)
{
    const char *at = type == TERN_CU_HOST ? host : (const char *)(uintptr_t)device;
    return fake_reach(at, (copy->height - 1) * pitch + copy->width) != NULL;
}

/* Returns 0 or the driver's error: the memory may have been freed since the copy was queued. */
static int do_copy(const struct tern_cu_copy_2d *copy)
{
    if (!reachable(copy->from_type, copy->from_host, copy->from_device, copy->from_pitch, copy) ||
        !reachable(copy->to_type, copy->to_host, copy->to_device, copy->to_pitch, copy))
        return FAKE_ILLEGAL_ADDRESS;
    const void *from = copy->from_type == TERN_CU_HOST ? copy->from_host
                                                       : (void *)(uintptr_t)copy->from_device;
    void *to = copy->to_type == TERN_CU_HOST ? copy->to_host : (void *)(uintptr_t)copy->to_device;
    int from_device = fake_device_of(from), to_device = fake_device_of(to);
    if (from_device >= 0 && to_device >= 0)
        bytes_between[from_device][to_device] += (long)(copy->width * copy->height);
    from = fake_reach(from, 1);
    to = fake_reach(to, 1);
    for (size_t row = 0; row < copy->height; row++)
        memmove((char *)to + row * copy->to_pitch, (const char *)from + row * copy->from_pitch,
                copy->width);
    return 0;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* FAKE_CUDA_SLOW: waits until a copy that began at `begin_ns` has passed 0.2 GB/s on this device, 2
 * GB/s on others. That is less than the processor does, so that what else it does is not seen. */
static void keep_pace(const struct CUstream_st *stream, const struct tern_cu_copy_2d *copy,
                      int64_t begin_ns)
{
    const char *text = getenv("FAKE_CUDA_SLOW");
    long slow = text ? atol(text) : -1;
    if (slow < 0)
        return;
    int64_t bytes = (int64_t)(copy->width * copy->height);
    int64_t end_ns = begin_ns + (stream->context->device == slow ? 5 * bytes : bytes / 2);
    struct timespec end = {end_ns / 1000000000, end_ns % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

static void run(struct CUstream_st *stream, struct operation *last);

static void await_record(struct CUevent_st *event, uint64_t number)
{
    while (event->reached < number && event->stream && event->stream->alive) {
        if (event->stream->threaded)
            pthread_cond_wait(&changed, &fake_gate);
        else if (event->stream->first)
            run(event->stream, event->stream->first);
        else
            break;
    }
}

/* Does the first operation of a stream. */
static void do_first(struct CUstream_st *stream)
{
    struct operation *operation = stream->first;
    stream->first = operation->next;
    if (!stream->first)
        stream->last = &stream->first;
    if (operation->kind == COPY && !stream->error) {
        int64_t begin_ns = now_ns();
        stream->error = do_copy(&operation->rows);
        keep_pace(stream, &operation->rows, begin_ns);
    } else if (operation->kind == LAUNCH && !stream->error) {
        stream->error = fake_do_launch(&operation->launch);
    } else if (operation->kind == RECORD && operation->event->reached < operation->number) {
        operation->event->reached = operation->number;
    } else if (operation->kind == WAIT) {
        await_record(operation->event, operation->number);
    }
    free(operation->kept);
    free(operation);
}

/* Does the operations of a stream up to `last`; NULL: all. */
static void run(struct CUstream_st *stream, struct operation *last)
{
    while (stream->first) {
        bool end = stream->first == last;
        do_first(stream);
        if (end)
            return;
    }
}

static void pause_for_random_time(unsigned *seed)
{
    long us = rand_r(seed) % (delay() + 1);
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static void *work(void *argument)
{
    struct CUstream_st *stream = argument;
    unsigned seed = (unsigned)(stream - streams);
    pthread_mutex_lock(&fake_gate);
    for (;;) {
        while (!stream->first && stream->alive)
            pthread_cond_wait(&changed, &fake_gate);
        if (!stream->first)
            break;
        stream->busy = true;
        pthread_mutex_unlock(&fake_gate);
        pause_for_random_time(&seed);
        pthread_mutex_lock(&fake_gate);
        if (stream->first)
            do_first(stream);
        stream->busy = false;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&fake_gate);
    return NULL;
}

static void finish(struct CUstream_st *stream)
{
    if (!stream->threaded)
        run(stream, NULL);
    while (stream->threaded && (stream->first || stream->busy))
        pthread_cond_wait(&changed, &fake_gate);
}

/* Queues an operation. Returns 0 or the driver's error. */
static int queue(struct CUstream_st *stream, struct operation what)
{
    struct operation *operation = malloc(sizeof *operation);
    if (!operation)
        return FAKE_OUT_OF_MEMORY;
    *operation = what;
    operation->next = NULL;
    pthread_mutex_lock(&fake_gate);
    if (what.kind == RECORD)
        operation->number = ++what.event->recorded;
    else if (what.kind == WAIT)
        operation->number = what.event->recorded;
    if (what.kind == RECORD) {
        what.event->stream = stream;
        what.event->asked = 0;
    }
    *stream->last = operation;
    stream->last = &operation->next;
    stream->asked = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&fake_gate);
    return 0;
}

/* ---- streams ---- */

static int check_stream(const char *name, const struct CUstream_st *stream)
{
    int rc = fake_usable(name);
    if (rc)
        return rc;
    if (stream && !stream->alive)
        fake_die("a stream that was destroyed is used");
    if (!stream || stream->context != fake_current()) /* another device's */
        return TERN_CU_INVALID_HANDLE;
    return 0;
}

/* Makes a stream of the current context. NULL: there are too many. The gate is closed. */
static struct CUstream_st *make_stream(bool legacy)
{
    struct CUstream_st *stream = streams;
    while (stream < streams + STREAMS && (stream->alive || stream->threaded))
        stream++;
    if (stream == streams + STREAMS)
        return NULL;
    *stream = (struct CUstream_st){.context = fake_current(), .alive = true, .legacy = legacy};
    stream->last = &stream->first;
    stream->threaded = delay() > 0 && pthread_create(&stream->thread, NULL, work, stream) == 0;
    return stream;
}

API int cuStreamCreate(struct CUstream_st **ret_stream, unsigned flags)
{
    (void)flags;
    int rc = fake_usable(__func__);
    pthread_mutex_lock(&fake_gate);
    if (!rc) {
        *ret_stream = make_stream(false);
        rc = *ret_stream ? 0 : FAKE_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&fake_gate);
    return rc;
}

/* Returns the default stream of the current context; NULL: it has none yet. The gate is closed. */
static struct CUstream_st *find_legacy(void)
{
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].alive && streams[i].legacy && streams[i].context == fake_current())
            return &streams[i];
    return NULL;
}

void fake_finish_late(void)
{
    pthread_mutex_lock(&fake_gate);
    struct CUstream_st *legacy = find_legacy();
    if (legacy)
        finish(legacy);
    pthread_mutex_unlock(&fake_gate);
}

/* Ends a stream; what was queued is done before. */
static void end_stream(struct CUstream_st *stream)
{
    pthread_mutex_lock(&fake_gate);
    finish(stream);
    stream->alive = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&fake_gate);
    if (stream->threaded)
        pthread_join(stream->thread, NULL);
    stream->threaded = false;
}

API int cuStreamDestroy_v2(struct CUstream_st *stream)
{
    int rc = check_stream(__func__, stream);
    if (!rc)
        end_stream(stream);
    return rc;
}

void fake_forget_streams(const struct CUctx_st *context)
{
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].alive && streams[i].context == context)
            end_stream(&streams[i]);
    for (int i = 0; i < EVENTS; i++)
        if (events[i].context == context)
            events[i].alive = false;
}

API int cuStreamSynchronize(struct CUstream_st *stream)
{
    int rc = check_stream(__func__, stream);
    if (rc)
        return rc;
    pthread_mutex_lock(&fake_gate);
    finish(stream);
    rc = stream->error;
    pthread_mutex_unlock(&fake_gate);
    return rc;
}

API int cuStreamQuery(struct CUstream_st *stream)
{
    uintptr_t number = (uintptr_t)stream;
    if (number == TERN_CU_STREAM_LEGACY || number == TERN_CU_STREAM_PER_THREAD) {
        pthread_mutex_lock(&fake_gate);
        stream = number == TERN_CU_STREAM_LEGACY ? find_legacy() : NULL;
        pthread_mutex_unlock(&fake_gate);
        if (!stream)
            return fake_usable(__func__);
    }
    int rc = check_stream(__func__, stream);
    if (rc)
        return rc;
    pthread_mutex_lock(&fake_gate);
    if (!stream->threaded && stream->asked++ >= ASKED_IN_VAIN)
        run(stream, NULL);
    rc = stream->error ? stream->error : stream->first || stream->busy ? FAKE_NOT_READY : 0;
    pthread_mutex_unlock(&fake_gate);
    return rc;
}

API int cuCtxSynchronize(void)
{
    int rc = fake_usable(__func__);
    pthread_mutex_lock(&fake_gate);
    for (int i = 0; i < STREAMS && !rc; i++)
        if (streams[i].alive && streams[i].context == fake_current()) {
            finish(&streams[i]);
            rc = streams[i].error;
        }
    pthread_mutex_unlock(&fake_gate);
    return rc;
}

/* ---- copies ---- */

/* Returns what is wrong with one side of a copy; 0: nothing. */
static int check_side(int type, const void *host, tern_cu_addr device, size_t pitch,
                      const struct tern_cu_copy_2d *copy)
{
    const char *at = type == TERN_CU_HOST ? host : (const char *)(uintptr_t)device;
    bool held = fake_in_arena(at);
    if (type == TERN_CU_DEVICE && !fake_find(at) && !fake_is_pinned(at))
        return TERN_CU_INVALID_VALUE;
    if (type == TERN_CU_HOST && held && (!fake_find(at) || fake_find(at)->kind != FAKE_MANAGED))
        return TERN_CU_INVALID_VALUE;
    if (copy->height > 1 && (pitch < copy->width || pitch > INT32_MAX))
        return TERN_CU_INVALID_VALUE;
    return reachable(type, host, device, pitch, copy) ? 0 : TERN_CU_INVALID_VALUE;
}

static int check_sides(const struct tern_cu_copy_2d *copy)
{
    int rc = check_side(copy->from_type, copy->from_host, copy->from_device, copy->from_pitch, copy);
    return rc ? rc
              : check_side(copy->to_type, copy->to_host, copy->to_device, copy->to_pitch, copy);
}

static int queue_copy(const char *name, const struct tern_cu_copy_2d *copy,
                      struct CUstream_st *stream)
{
    const char *text = getenv("FAKE_CUDA_FAIL");
    long fail_from = text ? atol(text) : 0;
    int rc = check_stream(name, stream);
    if (rc)
        return rc;
    if (copy->width == 0 || copy->height == 0)
        return 0;
    long number = __atomic_add_fetch(&copies, 1, __ATOMIC_RELAXED);
    if (fail_from && number >= fail_from)
        return FAKE_ILLEGAL_ADDRESS;
    rc = check_sides(copy);
    return rc ? rc : queue(stream, (struct operation){.kind = COPY, .rows = *copy});
}

static int kind_of(tern_cu_addr address)
{
    return fake_in_arena((void *)(uintptr_t)address) ? TERN_CU_DEVICE : TERN_CU_HOST;
}

static struct tern_cu_copy_2d plain(tern_cu_addr to, tern_cu_addr from, size_t bytes)
{
    return (struct tern_cu_copy_2d){.from_type = kind_of(from),
                                    .from_host = (void *)(uintptr_t)from,
                                    .from_device = from,
                                    .to_type = kind_of(to),
                                    .to_host = (void *)(uintptr_t)to,
                                    .to_device = to,
                                    .width = bytes,
                                    .height = 1};
}

API int cuMemcpyAsync(tern_cu_addr to, tern_cu_addr from, size_t bytes, struct CUstream_st *stream)
{
    struct tern_cu_copy_2d copy = plain(to, from, bytes);
    return queue_copy(__func__, &copy, stream);
}

API int cuMemcpyDtoDAsync_v2(tern_cu_addr to, tern_cu_addr from, size_t bytes,
                             struct CUstream_st *stream)
{
    struct tern_cu_copy_2d copy = plain(to, from, bytes);
    copy.from_type = copy.to_type = TERN_CU_DEVICE;
    return queue_copy(__func__, &copy, stream);
}

API int cuMemcpy2DAsync_v2(const struct tern_cu_copy_2d *copy, struct CUstream_st *stream)
{
    return queue_copy(__func__, copy, stream);
}

API int cuLaunchKernel(struct CUfunc_st *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared, struct CUstream_st *stream, void **arguments,
                       void **extra)
{
    struct operation operation = {.kind = LAUNCH};
    int rc = check_stream(__func__, stream);
    if (!rc && (!grid_x || grid_y != 1 || grid_z != 1 || !block_x || block_x > 1024 || block_y != 1 || block_z != 1 || shared ||
                extra))
        rc = TERN_CU_INVALID_VALUE;
    if (!rc && !fake_read_launch(function, arguments, &operation.launch))
        rc = TERN_CU_INVALID_HANDLE;
    return rc ? rc : queue(stream, operation);
}

static int copy_now(const char *name, tern_cu_addr to, tern_cu_addr from, size_t bytes)
{
    int rc = fake_usable(name);
    struct tern_cu_copy_2d copy = plain(to, from, bytes);
    pthread_mutex_lock(&fake_gate);
    struct CUstream_st *legacy = rc ? NULL : find_legacy();
    if (legacy)
        finish(legacy);
    if (!rc && bytes)
        rc = do_copy(&copy) ? TERN_CU_INVALID_VALUE : 0;
    pthread_mutex_unlock(&fake_gate);
    return rc;
}

/* Returns true if a copy from host memory may return before it is done. */
static bool may_be_late(tern_cu_addr to, const void *from, size_t bytes)
{
    const struct fake_allocation *allocation = fake_find((void *)(uintptr_t)to);
    return bytes && bytes <= 65536 && allocation && !allocation->by_malloc &&
           !allocation->unmapped && !__atomic_load_n(&allocation->synchronous, __ATOMIC_RELAXED) && !fake_in_arena(from) &&
           !fake_is_pinned(from) && !(__atomic_load_n(&fake_current()->flags, __ATOMIC_RELAXED) & TERN_CU_CONTEXT_SYNC_MEMOPS);
}

/* Queues a copy in the default stream. Returns false if that is not possible. */
static bool copy_late(tern_cu_addr to, const void *from, size_t bytes)
{
    pthread_mutex_lock(&fake_gate);
    struct CUstream_st *legacy = find_legacy();
    legacy = legacy ? legacy : make_stream(true);
    pthread_mutex_unlock(&fake_gate);
    void *kept = legacy ? malloc(bytes) : NULL;
    if (!kept)
        return false;
    memcpy(kept, from, bytes);
    struct tern_cu_copy_2d copy = plain(to, (uintptr_t)kept, bytes);
    return queue(legacy, (struct operation){.kind = COPY, .rows = copy, .kept = kept}) == 0;
}

API int cuMemcpyHtoD_v2(tern_cu_addr to, const void *from, size_t bytes)
{
    if (fake_current() && fake_current()->alive && may_be_late(to, from, bytes) &&
        copy_late(to, from, bytes))
        return fake_usable(__func__);
    return copy_now(__func__, to, (uintptr_t)from, bytes);
}

API int cuMemcpyDtoH_v2(void *to, tern_cu_addr from, size_t bytes)
{
    return copy_now(__func__, (uintptr_t)to, from, bytes);
}

/* ---- events ---- */

API int cuEventCreate(struct CUevent_st **ret_event, unsigned flags)
{
    (void)flags;
    int rc = fake_usable(__func__);
    pthread_mutex_lock(&fake_gate);
    struct CUevent_st *event = events;
    while (event < events + EVENTS && event->alive)
        event++;
    if (!rc && event == events + EVENTS)
        rc = FAKE_OUT_OF_MEMORY;
    if (!rc) {
        *event = (struct CUevent_st){.context = fake_current(), .alive = true};
        *ret_event = event;
    }
    pthread_mutex_unlock(&fake_gate);
    return rc;
}

API int cuEventDestroy_v2(struct CUevent_st *event)
{
    fake_count(__func__);
    if (!event || !event->alive)
        return TERN_CU_INVALID_HANDLE;
    pthread_mutex_lock(&fake_gate);
    await_record(event, event->recorded); /* an operation still names it */
    event->alive = false;
    pthread_mutex_unlock(&fake_gate);
    return 0;
}

API int cuEventRecord(struct CUevent_st *event, struct CUstream_st *stream)
{
    int rc = check_stream(__func__, stream);
    if (rc)
        return rc;
    if (!event || !event->alive || event->context != stream->context)
        return TERN_CU_INVALID_HANDLE;
    return queue(stream, (struct operation){.kind = RECORD, .event = event});
}

API int cuStreamWaitEvent(struct CUstream_st *stream, struct CUevent_st *event, unsigned flags)
{
    int rc = check_stream(__func__, stream);
    if (rc || flags)
        return rc ? rc : TERN_CU_INVALID_VALUE;
    if (!event || !event->alive)
        return TERN_CU_INVALID_HANDLE;
    return queue(stream, (struct operation){.kind = WAIT, .event = event});
}

/* Returns how an event stands; `waits`: lets its stream reach it first. */
static int state_of(struct CUevent_st *event, bool waits)
{
    if (!fake_initialized)
        return TERN_CU_NOT_INITIALIZED;
    if (!event || !event->alive)
        return TERN_CU_INVALID_HANDLE;
    pthread_mutex_lock(&fake_gate);
    bool late = event->stream && !event->stream->threaded;
    if (waits || (late && event->asked++ >= ASKED_IN_VAIN))
        await_record(event, event->recorded);
    int error = event->stream ? event->stream->error : 0;
    bool reached = event->reached >= event->recorded;
    pthread_mutex_unlock(&fake_gate);
    return error ? error : reached ? 0 : FAKE_NOT_READY;
}

API int cuEventQuery(struct CUevent_st *event)
{
    fake_count(__func__);
    return state_of(event, false);
}

API int cuEventSynchronize(struct CUevent_st *event)
{
    fake_count(__func__);
    return state_of(event, true);
}

static bool lives(const struct CUctx_st *context)
{
    return context && context->alive;
}

void fake_list_streams(void)
{
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].alive && !streams[i].legacy && lives(streams[i].context))
            fprintf(stderr, "fake_cuda: a stream of device %d was not destroyed\n",
                    streams[i].context->device);
    for (int i = 0; i < EVENTS; i++)
        if (events[i].alive && lives(events[i].context))
            fprintf(stderr, "fake_cuda: an event of device %d was not destroyed\n",
                    events[i].context->device);
}
