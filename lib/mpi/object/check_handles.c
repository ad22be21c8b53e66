/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * check_level full: the handles that the user holds.
 *
 * This file follows the user's view. A handle is made when a procedure hands it out, and gone when
 * a procedure takes it back, whatever the library still does with the object. A handle that is not
 * recorded (made before MPI_Init, or in a way not foreseen here) is never refused. So a handle is
 * refused only for a fact: its memory cannot be read, or it was given back.
 */

#include "lib/mpi/object/gate.h"

#include "lib/mpi/object/running.h"
#include "lib/pml/request.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- the procedure that the thread is in ---- */

static __thread const char *procedure = "MPI";
/* The newest procedure of all threads. Other ranks ask for it to learn what this process does. */
static const char *_Atomic newest = "MPI_Init";

void tern_check_enter(const char *name, bool always_allowed)
{
    if (!tern_running() && !always_allowed)
        tern_running_refuse(name);
    procedure = newest = name;
}

void tern_check_own_process(const char *name)
{
    if (tern_forked)
        tern_running_refuse_forked(name);
}

const char *tern_check_procedure(void)
{
    return procedure;
}

const char *tern_check_newest_procedure(void)
{
    return newest;
}

/* ---- the table of handles ---- */

struct entry {
    const void *handle; /* NULL if the place is free */
    uint32_t magic;
    int held; /* how many times the user holds the handle; 0: given back */
    /* Lent to a callback although it was given back: using it is no fault. */
    bool lent;
    const char *maker, *freer;
};

static struct entry *table;
static size_t room, used; /* room is a power of two */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct entry *place_of(struct entry *in, size_t size, const void *handle)
{
    size_t at = ((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u & (size - 1);
    while (in[at].handle && in[at].handle != handle)
        at = (at + 1) & (size - 1);
    return &in[at];
}

static struct entry *find(const void *handle)
{
    struct entry *entry = room ? place_of(table, room, handle) : NULL;
    return entry && entry->handle ? entry : NULL;
}

/* Returns the entry of a handle; adds one if needed. Returns NULL if there is no memory: then the
 * handle is not recorded. */
static struct entry *find_or_add(const void *handle)
{
    if (2 * used >= room) {
        size_t larger = room ? 2 * room : 256;
        struct entry *more = calloc(larger, sizeof *more);
        if (!more)
            return NULL;
        for (size_t i = 0; i < room; i++)
            if (table[i].handle)
                *place_of(more, larger, table[i].handle) = table[i];
        free(table);
        table = more;
        room = larger;
    }
    struct entry *entry = place_of(table, room, handle);
    if (!entry->handle) {
        *entry = (struct entry){.handle = handle};
        used++;
    }
    return entry;
}

/* Returns true if the program made the handle and has to free it. */
static bool counts(const struct tern_handle *handle)
{
    const struct tern_object *object = handle ? handle->state : NULL;
    if (!object || handle != &object->own)
        return false;
    if (handle->magic == TERN_MAGIC_REQUEST)
        return ((const struct tern_request *)object)->kind != &tern_request_static_kind;
    return object->held != TERN_OBJECT_KEPT;
}

void tern_check_handle_made(const void *handle)
{
    if (!tern_check_full() || !counts(handle))
        return;
    pthread_mutex_lock(&mutex);
    struct entry *entry = find_or_add(handle);
    if (entry && entry->held == 0)
        *entry = (struct entry){.handle = handle,
                                .magic = ((const struct tern_handle *)handle)->magic,
                                .maker = procedure};
    if (entry)
        entry->held++;
    pthread_mutex_unlock(&mutex);
}

/* Also after the library has ended: some handles live longer. */
void tern_check_handle_gone(const void *handle)
{
    pthread_mutex_lock(&mutex);
    struct entry *entry = find(handle);
    if (entry && entry->held > 0) {
        entry->held--;
        entry->freer = procedure;
    }
    pthread_mutex_unlock(&mutex);
}

void tern_check_handle_lent(const void *handle)
{
    if (!tern_check_full())
        return;
    pthread_mutex_lock(&mutex);
    struct entry *entry = find(handle);
    if (entry)
        entry->lent = true;
    pthread_mutex_unlock(&mutex);
}

/* ---- examining a handle ---- */

/* Returns true if the memory of the handle can be read. Lets the kernel read it, which does no
 * harm. If the kernel is not allowed to, trusts the handle. */
static bool readable(const struct tern_handle *handle)
{
    struct tern_handle copy;
    struct iovec to = {&copy, sizeof copy}, from = {(void *)handle, sizeof copy};
    int saved = errno;
    bool fault = process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0 && errno == EFAULT;
    errno = saved;
    return !fault;
}

/* Returns the object of a handle that may be given out several times and perhaps was not recorded
 * each time (before MPI_Init): the object counts for itself. Returns NULL for others. */
static const struct tern_object *lent_object(const struct tern_handle *handle)
{
    bool lent = handle->magic == TERN_MAGIC_GROUP || handle->magic == TERN_MAGIC_ERRHANDLER;
    const struct tern_object *object = lent ? handle->state : NULL;
    return object && handle == &object->own ? object : NULL;
}

/* Returns the procedure that took back a handle which the user does not hold any more, or NULL. */
static const char *freer_of(const void *handle)
{
    pthread_mutex_lock(&mutex);
    const struct entry *entry = find(handle);
    const struct tern_object *lent = entry ? lent_object(handle) : NULL;
    bool freed = entry && (lent ? lent->held : entry->held) == 0 && !entry->lent;
    const char *freer = freed ? entry->freer : NULL;
    pthread_mutex_unlock(&mutex);
    return freer;
}

bool tern_check_bad_handle(const void *handle)
{
    return tern_check_full() && handle && (!readable(handle) || freer_of(handle));
}

int64_t tern_check_find_bad_handle(const void *handles, int64_t n)
{
    const void *const *handle = handles;
    for (int64_t i = 0; handle && tern_check_full() && i < n; i++)
        if (tern_check_bad_handle(handle[i]))
            return i;
    return -1;
}

static const struct {
    uint32_t magic;
    const char *one, *many;
} kinds[] = {
    {TERN_MAGIC_COMM, "a communicator", "communicators"},
    {TERN_MAGIC_GROUP, "a group", "groups"},
    {TERN_MAGIC_DATATYPE, "a datatype", "datatypes"},
    {TERN_MAGIC_OP, "an operation", "operations"},
    {TERN_MAGIC_REQUEST, "a request", "requests"},
    {TERN_MAGIC_ERRHANDLER, "an error handler", "error handlers"},
    {TERN_MAGIC_INFO, "an info object", "info objects"},
    {TERN_MAGIC_MESSAGE, "a message", "messages"},
    {TERN_MAGIC_WIN, "a window", "windows"},
    {TERN_MAGIC_FILE, "a file", "files"},
    {TERN_MAGIC_SESSION, "a session", "sessions"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *tern_check_handle_fault(const void *handle)
{
    static __thread char text[160];
    const struct tern_handle *h = handle;

    if (!h)
        return "a NULL pointer";
    if (tern_check_full() ? !readable(h) : !tern_handle_is_memory(h)) {
        snprintf(text, sizeof text,
                 "%p, not a handle: there is no memory at this address (was it never set, or the "
                 "program compiled with the mpi.h of another MPI?)", handle);
        return text;
    }
    const char *freer = tern_check_full() ? freer_of(h) : NULL;
    if (freer) {
        snprintf(text, sizeof text, "a handle that %s has freed", freer);
        return text;
    }
    const struct tern_object *lent = lent_object(h);
    if (h->magic == TERN_MAGIC_FREED || (lent && lent->held == 0))
        return "a handle that was freed";
    for (int i = 0; i < KINDS; i++)
        if (h->magic == kinds[i].magic) {
            snprintf(text, sizeof text, "the handle of %s", kinds[i].one);
            return text;
        }
    snprintf(text, sizeof text, "%p, not a handle of this MPI library (was it never set?)", handle);
    return text;
}

/* ---- leaks ---- */

/*
 * Most kinds are reported when the library ends. Info objects and error handlers may be freed after
 * that, so they are reported when the process exits. If a session is still open then, the library
 * has not ended, and every kind is reported at exit. A session itself is reported only there,
 * because it still has its handle while it ends.
 */

static bool outlives_library(uint32_t magic)
{
    return magic == TERN_MAGIC_INFO || magic == TERN_MAGIC_ERRHANDLER;
}

/* Returns how many handles of the kind and maker of entry `first` the user still holds. Marks the
 * later ones as counted. */
static int count_like(size_t first)
{
    int count = 0;
    for (size_t i = first; i < room; i++)
        if (table[i].held > 0 && table[i].magic == table[first].magic &&
            strcmp(table[i].maker, table[first].maker) == 0) {
            count += table[i].held;
            if (i != first)
                table[i].held = 0; /* counted */
        }
    return count;
}

static const char *name_of(const struct entry *entry)
{
    const struct tern_object *object = ((const struct tern_handle *)entry->handle)->state;
    bool named = entry->magic == TERN_MAGIC_COMM || entry->magic == TERN_MAGIC_DATATYPE;
    return object && named ? object->name : "";
}

/* Reports the handles of the kinds that live longer than the library, or of the other kinds. If the
 * library is `ending`, leaves out sessions. Needs the mutex. */
static void say_leaks_of(bool outlives, bool ending)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < room; i++) {
            if (table[i].held == 0 || table[i].magic != kinds[kind].magic ||
                outlives_library(table[i].magic) != outlives ||
                (ending && kinds[kind].magic == TERN_MAGIC_SESSION))
                continue;
            int count = count_like(i);
            const char *name = count == 1 ? name_of(&table[i]) : "";
            const char *quote = *name ? "\"" : "";
            if (count == 1)
                tern_log("%s%s%s%s%s from %s was never freed", kinds[kind].one,
                         *name ? " " : "", quote, name, quote, table[i].maker);
            else
                tern_log("%d %s from %s were never freed", count, kinds[kind].many,
                         table[i].maker);
        }
}

/* Forgets all handles, except those that the user holds and may free later. Needs the mutex. */
static void forget(void)
{
    struct entry *old = table;
    size_t size = room;
    table = NULL;
    room = used = 0;
    for (size_t i = 0; i < size; i++) {
        bool kept = old[i].held > 0 && outlives_library(old[i].magic);
        struct entry *entry = kept ? find_or_add(old[i].handle) : NULL;
        if (entry)
            *entry = old[i];
    }
    free(old);
}

void tern_check_say_leaks(void)
{
    pthread_mutex_lock(&mutex);
    say_leaks_of(false, true);
    forget();
    pthread_mutex_unlock(&mutex);
}

static pid_t watched; /* the process whose exit is watched, not a child made by fork */

static void say_leaks_at_exit(void)
{
    bool world = tern_world == TERN_WORLD_STARTING || tern_world == TERN_WORLD_RUNNING;
    if (getpid() != watched || world)
        return; /* the launcher reports that MPI_Finalize is missing */
    pthread_mutex_lock(&mutex);
    if (tern_running())
        say_leaks_of(false, false);
    say_leaks_of(true, false);
    pthread_mutex_unlock(&mutex);
}

void tern_check_watch_exit(void)
{
    if (!watched)
        atexit(say_leaks_at_exit);
    watched = getpid();
}
