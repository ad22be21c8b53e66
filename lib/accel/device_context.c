/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Contexts, and what belongs to them: one stream of ours for each, and events.
 *
 * A context may be destroyed, and another one made at its address. Its stream and events are then
 * invalid, and are made anew: buffers of the new context are new, and who meets a buffer for the
 * first time compares the context's id. At the end only those are given back whose context surely
 * lives: the others went with it.
 */
#include "lib/accel/device_context.h"

#include "lib/util/base/error.h"

#include <pthread.h>

enum { CONTEXTS = 64, EVENTS = 64 };

/* The streams, by context; when all places are taken, the oldest is used again. */
static struct {
    void *context;
    unsigned long long id; /* of the context, never used again; 0: the driver does not tell */
    tern_cu_stream stream;
    int device;
} streams[CONTEXTS];
static unsigned streams_made;

/* Events that nobody uses. */
static struct {
    void *context; /* NULL: free entry */
    tern_cu_event event;
} events[EVENTS];
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

int tern_cu_say(const struct tern_cu_driver *driver, const char *what, int result)
{
    const char *name = NULL, *text = NULL;
    driver->error_name(result, &name);
    driver->error_text(result, &text);
    return tern_error(TERN_ERR_BUFFER,
                      "the CUDA driver could not %s: %s (%s); the buffer was freed, or its context "
                      "destroyed, or a kernel before this call failed",
                      what, name ? name : "unknown error", text ? text : "no text");
}

/* Devices whose primary context we hold until the end, because no other one was to be had: a bit
 * for each; atomic. */
static uint64_t kept;

/* Finds a context for memory of VMM and pools, which belongs to none: the primary one of its device
 * if the program uses that, the current one if it is of this device, else the primary one, which is
 * made then. Sets entry->context and entry->primary; entry->context stays NULL if there is none. */
static void find_context(const struct tern_cu_driver *driver, struct tern_accel_entry *entry)
{
    unsigned flags;
    int active = 0, device;
    tern_cu_context context = NULL;
    if (entry->device < 0 || driver->primary_state(entry->device, &flags, &active))
        return;
    if (!active && driver->context_current(&context) == 0 && context &&
        driver->context_device(&device) == 0 && device == entry->device) {
        entry->context = context;
        return;
    }
    if (driver->primary_retain(&context, entry->device))
        return;
    entry->context = context;
    entry->primary = true;
    if (!active)
        tern_cu_forget_earlier(driver, entry); /* one that has ended may have had its address */
    uint64_t bit = entry->device < 64 ? 1ul << entry->device : 0;
    if (!active && bit && !(__atomic_fetch_or(&kept, bit, __ATOMIC_RELAXED) & bit))
        driver->primary_retain(&context, entry->device);
}

int tern_cu_enter(const struct tern_cu_driver *driver, const struct tern_accel_place *place,
                  struct tern_accel_entry *ret_entry)
{
    struct tern_accel_entry entry = {.context = place->context, .device = place->device};
    tern_cu_context current = NULL;
    if (!entry.context)
        find_context(driver, &entry);
    if (!entry.context)
        return TERN_CU_INVALID_CONTEXT;
    entry.pushed = driver->context_current(&current) || current != entry.context;
    int result = entry.pushed ? driver->context_push(entry.context) : 0;
    if (result && entry.primary)
        driver->primary_release(entry.device);
    if (!result)
        *ret_entry = entry;
    return result;
}

int tern_cu_leave_held(const struct tern_cu_driver *driver, const struct tern_accel_entry *entry)
{
    tern_cu_context popped;
    if (entry->pushed)
        driver->context_pop(&popped);
    return entry->primary ? entry->device : -1;
}

void tern_cu_leave(const struct tern_cu_driver *driver, const struct tern_accel_entry *entry)
{
    if (tern_cu_leave_held(driver, entry) >= 0)
        driver->primary_release(entry->device);
}

unsigned long long tern_cu_context_id(const struct tern_cu_driver *driver, const void *context)
{
    unsigned long long id = 0;
    return driver->context_id && !driver->context_id((void *)context, &id) ? id : 0;
}

/* Forgets what belonged to another context than `id` at this address. The gate is closed. */
static void forget_others(void *context, unsigned long long id)
{
    bool other = false;
    for (int i = 0; i < CONTEXTS; i++)
        if (streams[i].context == context && streams[i].id != id) {
            streams[i].context = NULL;
            other = true;
        }
    for (int i = 0; i < EVENTS && other; i++)
        if (events[i].context == context)
            events[i].context = NULL;
}

void tern_cu_forget_earlier(const struct tern_cu_driver *driver,
                            const struct tern_accel_entry *entry)
{
    unsigned long long id = tern_cu_context_id(driver, entry->context);
    pthread_mutex_lock(&gate);
    forget_others(entry->context, id);
    pthread_mutex_unlock(&gate);
}

int tern_cu_find_stream(const struct tern_cu_driver *driver, const struct tern_accel_entry *entry,
                        bool again, tern_cu_stream *ret_stream)
{
    int result = 0;
    unsigned i = 0;
    pthread_mutex_lock(&gate);
    while (i < CONTEXTS && streams[i].context != entry->context)
        i++;
    if (i == CONTEXTS) {
        i = streams_made++ % CONTEXTS;
        again = true;
    }
    if (again) {
        streams[i].context = NULL;
        streams[i].id = tern_cu_context_id(driver, entry->context);
        streams[i].device = entry->device;
        result = driver->stream_create(&streams[i].stream, TERN_CU_STREAM_NON_BLOCKING);
        if (!result)
            streams[i].context = entry->context;
    }
    *ret_stream = streams[i].stream;
    pthread_mutex_unlock(&gate);
    return result;
}

bool tern_cu_lost(int result)
{
    return result == TERN_CU_INVALID_HANDLE || result == TERN_CU_INVALID_CONTEXT ||
           result == TERN_CU_CONTEXT_IS_DESTROYED;
}

int tern_cu_take_event(const struct tern_cu_driver *driver, void *context,
                       tern_cu_event *ret_event)
{
    *ret_event = NULL;
    pthread_mutex_lock(&gate);
    for (int i = 0; i < EVENTS && !*ret_event; i++)
        if (events[i].context == context) {
            *ret_event = events[i].event;
            events[i].context = NULL;
        }
    pthread_mutex_unlock(&gate);
    return *ret_event ? 0 : driver->event_create(ret_event, TERN_CU_EVENT_DISABLE_TIMING);
}

void tern_cu_give_event(const struct tern_cu_driver *driver, void *context, tern_cu_event event)
{
    pthread_mutex_lock(&gate);
    for (int i = 0; i < EVENTS && event; i++)
        if (!events[i].context) {
            events[i].context = context;
            events[i].event = event;
            event = NULL;
        }
    pthread_mutex_unlock(&gate);
    if (event)
        driver->event_destroy(event);
}

/* Gives back the stream and the events of a context, which is current. */
static void give_back(const struct tern_cu_driver *driver, void *context,
                      tern_cu_leaving *leaving)
{
    forget_others(context, tern_cu_context_id(driver, context));
    leaving(context);
    for (int i = 0; i < CONTEXTS; i++)
        if (streams[i].context == context) {
            driver->stream_destroy(streams[i].stream);
            streams[i].context = NULL;
        }
    for (int i = 0; i < EVENTS; i++)
        if (events[i].context == context) {
            driver->event_destroy(events[i].event);
            events[i].context = NULL;
        }
}

/* Gives back what belongs to the primary context of a device, if there is one. */
static void give_back_primary(const struct tern_cu_driver *driver, int device,
                              tern_cu_leaving *leaving)
{
    struct tern_accel_entry entry;
    unsigned flags;
    int active = 0;
    if (device < 0 || driver->primary_state(device, &flags, &active) || !active ||
        tern_cu_enter(driver, &(struct tern_accel_place){.device = device}, &entry))
        return;
    give_back(driver, entry.context, leaving);
    tern_cu_leave(driver, &entry);
}

void tern_cu_leave_contexts(const struct tern_cu_driver *driver, tern_cu_leaving *leaving)
{
    tern_cu_context current = NULL;
    pthread_mutex_lock(&gate);
    if (driver->context_current(&current) == 0 && current)
        give_back(driver, current, leaving);
    for (int i = 0; i < CONTEXTS; i++)
        if (streams[i].context)
            give_back_primary(driver, streams[i].device, leaving);
    for (int device = 0; kept >> device && device < 64; device++)
        if (kept >> device & 1)
            driver->primary_release(device);
    kept = 0;
    pthread_mutex_unlock(&gate);
}
