/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/accel/device_pinned.h"

#include "lib/accel/device_context.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { PIECES = 64 };

static struct {
    char *memory; /* NULL: none yet */
    bool used;
} pieces[PIECES];
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static char *make(void)
{
    char *memory = mmap(NULL, TERN_ACCEL_PINNED, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, TERN_ACCEL_PINNED, MADV_DONTFORK); /* a fork would move the pages away */
    return memory;
}

/* Returns true if kernels reach host memory at its own address. */
static bool is_mapped(const struct tern_cu_driver *driver, char *memory)
{
    tern_cu_addr device = 0;
    void *values[] = {&device};
    int wanted[] = {TERN_CU_ATTRIBUTE_DEVICE_POINTER};
    return !driver->pointer_attributes(1, wanted, values, (uintptr_t)memory) &&
           device == (uintptr_t)memory;
}

void (*tern_accel_say_refused)(const char *text);

/* Writes what may be the cause: the limit of locked memory, or that of a container. */
static void write_limit(char *text, size_t room)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(text, room, "this process may lock %llu KiB of memory, see `ulimit -l`",
                 (unsigned long long)limit.rlim_cur >> 10);
    else
        snprintf(text, room, "a container's limit of locked memory may be too low");
}

/* Says once that the driver does not register host memory. */
static void say_refused(const struct tern_cu_driver *driver, int result)
{
    static bool said; /* atomic */
    char text[400], limit[100];
    const char *name = NULL;
    if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED) || !tern_accel_say_refused)
        return;
    driver->error_name(result, &name);
    write_limit(limit, sizeof limit);
    snprintf(text, sizeof text,
             "the CUDA driver does not pin %d KiB of host memory (%.60s): copies between host and "
             "device memory are slower, and lists of runs are not moved by kernels; %s",
             TERN_ACCEL_PINNED >> 10, name ? name : "unknown error", limit);
    tern_accel_say_refused(text);
}

/* A refusal costs a system call, and will come again most of the time: for the limit of locked
 * memory, which seldom changes. So after a refusal the driver is not asked at the next uses, at
 * first WAIT_LEAST of them, after each further refusal twice as many. Threads may lose each other's
 * counts: then it is asked a little earlier or later. */
enum { WAIT_LEAST = 16, WAIT_MOST = 4096 };
static unsigned left, next_wait = WAIT_LEAST; /* atomic */

/* Returns true if the driver may be asked to register memory at this use. */
static bool may_ask(void)
{
    unsigned now = __atomic_load_n(&left, __ATOMIC_RELAXED);
    if (now)
        __atomic_store_n(&left, now - 1, __ATOMIC_RELAXED);
    return now == 0;
}

static void note_answer(bool refused)
{
    unsigned wait = __atomic_load_n(&next_wait, __ATOMIC_RELAXED);
    __atomic_store_n(&left, refused ? wait : 0, __ATOMIC_RELAXED);
    if (refused && wait < WAIT_MOST)
        wait *= 2;
    __atomic_store_n(&next_wait, refused ? wait : WAIT_LEAST, __ATOMIC_RELAXED);
}

/* Registers memory. Returns false if the driver refuses it, or has done so lately. */
static bool register_memory(const struct tern_cu_driver *driver, char *memory)
{
    if (!may_ask())
        return false;
    int result = driver->host_register(memory, TERN_ACCEL_PINNED, TERN_CU_REGISTER_PORTABLE);
    note_answer(result != 0);
    if (result)
        say_refused(driver, result);
    return result == 0;
}

/* Registers memory, unless it is registered. A registration goes with the context in which it was
 * made, so the driver is asked. Returns true if kernels reach the memory at its own address. If the
 * driver does not register it, it serves as it is. */
static bool is_reached(char *memory, const struct tern_accel_place *place)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_accel_entry entry;
    if (tern_cu_enter(driver, place, &entry))
        return false;
    bool mapped = is_mapped(driver, memory);
    if (!mapped && register_memory(driver, memory))
        mapped = is_mapped(driver, memory);
    tern_cu_leave(driver, &entry);
    return mapped;
}

char *tern_accel_pinned_take(const struct tern_accel_place *place, bool *ret_reached)
{
    char *taken = NULL;
    pthread_mutex_lock(&gate);
    for (int i = 0; i < PIECES && !taken; i++) {
        if (pieces[i].used)
            continue;
        if (!pieces[i].memory)
            pieces[i].memory = make();
        taken = pieces[i].memory;
        pieces[i].used = taken != NULL;
    }
    pthread_mutex_unlock(&gate);
    *ret_reached = taken && is_reached(taken, place);
    return taken;
}

void tern_accel_pinned_give(char *piece)
{
    pthread_mutex_lock(&gate);
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].memory == piece)
            pieces[i].used = false;
    pthread_mutex_unlock(&gate);
}

void tern_accel_pinned_leave(void)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    pthread_mutex_lock(&gate);
    for (int i = 0; i < PIECES; i++) {
        if (!pieces[i].memory)
            continue;
        driver->host_unregister(pieces[i].memory); /* if it still is registered */
        munmap(pieces[i].memory, TERN_ACCEL_PINNED);
        pieces[i].memory = NULL;
    }
    note_answer(false);
    pthread_mutex_unlock(&gate);
}
