/* SPDX-License-Identifier: BSD-3-Clause */

/* Which addresses are in device memory. */
#include "lib/accel/accel.h"

#include "lib/accel/cuda_driver.h"
#include "lib/accel/device_context.h"
#include "lib/util/base/now.h"
#include "lib/settings/param.h"

#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

bool tern_accel_watched;

/* The longest time that is waited for the program's default streams: of the buffer's context and
 * the current one; of others, where a kernel has less to do with the message. */
static const uint64_t SETTLE_NS = 1000000000, SETTLE_ELSEWHERE_NS = 20000000;

/* The heap (brk), the first thread's stack, and the program's own variables: the kernel gives their
 * addresses to nobody else. */
static uintptr_t heap_begin, stack_begin, stack_end, data_begin, data_end;

/* Reads one line of the process's map, such as "5581e0000000-5581e0021000 rw-p ... [heap]". */
static void note_range(const char *line)
{
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx", &begin, &end) != 2)
        return;
    if (strstr(line, "[heap]"))
        heap_begin = begin;
    else if (strstr(line, "[stack]")) {
        stack_begin = begin;
        stack_end = end;
    }
}

/* Reads where the program's own variables are, from its writable segments: it is the first in the
 * list. */
static int note_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) &&
            end - begin > data_end - data_begin) {
            data_begin = begin;
            data_end = end;
        }
    }
    return 1; /* no more */
}

static void find_host_ranges(void)
{
    dl_iterate_phdr(note_program, NULL);
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps))
        note_range(line);
    if (maps)
        fclose(maps);
}

static bool is_surely_host(uintptr_t address)
{
    return (address >= stack_begin && address < stack_end) ||
           (address >= data_begin && address < data_end) ||
           (heap_begin && address >= heap_begin && address < (uintptr_t)sbrk(0));
}

void tern_accel_init(void)
{
    const char *wish = tern_param_string("accel");
    if (tern_accel_watched || strcmp(wish, "none") == 0)
        return;
    if (strcmp(wish, "cuda") != 0 && !tern_cu_driver() && access("/dev/nvidiactl", F_OK) != 0 &&
        access("/dev/nvhost-gpu", F_OK) != 0 && access("/dev/dxg", F_OK) != 0)
        return; /* neither a driver, nor a discrete device, nor an embedded one, nor Windows' */
    find_host_ranges();
    tern_accel_watched = true;
}

bool tern_cu_find_place(const struct tern_cu_driver *driver, const void *address,
                        struct tern_accel_place *ret_place)
{
    int wanted[] = {TERN_CU_ATTRIBUTE_MEMORY_TYPE, TERN_CU_ATTRIBUTE_CONTEXT,
                    TERN_CU_ATTRIBUTE_DEVICE_ORDINAL, TERN_CU_ATTRIBUTE_IS_MANAGED,
                    TERN_CU_ATTRIBUTE_BUFFER_ID};
    unsigned type = 0, managed = 0;
    struct tern_accel_place place = {.device = -1};
    void *values[] = {&type, &place.context, &place.device, &managed, &place.id};
    if (driver->pointer_attributes(5, wanted, values, (uintptr_t)address))
        return false;
    *ret_place = place;
    return type == TERN_CU_DEVICE || (managed & 0xff);
}

/* Waits until what the program has queued in the default streams of the current context has been
 * done, at most `most_ns`: a kernel there may wait for this message. */
static void settle(const struct tern_cu_driver *driver, uint64_t most_ns)
{
    static const uintptr_t defaults[] = {TERN_CU_STREAM_LEGACY, TERN_CU_STREAM_PER_THREAD};
    uint64_t begin = tern_now_ns();
    for (int i = 0; i < 2; i++)
        while (driver->stream_query((tern_cu_stream)defaults[i]) == TERN_CU_NOT_READY &&
               tern_now_ns() - begin < most_ns)
            sched_yield();
}

/*
 * The program's own copies of short pieces from ordinary host memory may return before they have
 * ended (CUDA driver API, "API synchronization behavior"), and our streams do not wait for the
 * program's. Where an allocation can be made synchronous, its copies end before they return; for
 * memory of pools and VMM, all copies of a context. (The driver takes the attribute of memory of a
 * pool, too, but it has no effect: seen with CUDA 13.0.)
 *
 * Makes the copies of the current context synchronous, unless the allocation itself is (`made`),
 * and awaits those that were begun. Returns true if later copies end before they return.
 */
static bool synchronise(const struct tern_cu_driver *driver, bool made, uint64_t most_ns)
{
    unsigned flags = 0;
    if (!made && driver->context_flags && driver->context_set_flags &&
        driver->context_flags(&flags) == 0)
        made = (flags & TERN_CU_CONTEXT_SYNC_MEMOPS) ||
               driver->context_set_flags(flags | TERN_CU_CONTEXT_SYNC_MEMOPS) == 0;
    settle(driver, most_ns);
    return made;
}

/* Makes the program's copies to an allocation synchronous: in the context of its place, in the one
 * that is current in this thread, and in the primary ones of all devices. Returns false if that
 * must be repeated for each message. */
static bool meet(const struct tern_cu_driver *driver, const void *address,
                 const struct tern_accel_place *place)
{
    struct tern_accel_entry entry;
    unsigned on = 1, flags;
    int active, count = 0;
    if (tern_cu_enter(driver, place, &entry))
        return false;
    driver->device_count(&count);
    tern_cu_forget_earlier(driver, &entry);
    bool made =
        place->context &&
        driver->pointer_set(&on, TERN_CU_ATTRIBUTE_SYNC_MEMOPS, (uintptr_t)address) == 0;
    bool always = synchronise(driver, made, SETTLE_NS);
    tern_cu_leave(driver, &entry);
    if (entry.pushed)
        always &= synchronise(driver, made, SETTLE_NS);
    for (int device = 0; device < count; device++)
        if (device != place->device &&
            driver->primary_state(device, &flags, &active) == 0 && active &&
            tern_cu_enter(driver, &(struct tern_accel_place){.device = device}, &entry) == 0) {
            always &= synchronise(driver, made, SETTLE_ELSEWHERE_NS);
            tern_cu_leave(driver, &entry);
        }
    return always;
}

/* Allocations that were met, by their ids, in sets: an allocation is in the set of its number. */
enum { SETS = 256, WAYS = 8 };
static uint64_t met[SETS][WAYS]; /* the newest first; atomic */

static bool was_met(uint64_t id)
{
    for (int i = 0; id && i < WAYS; i++)
        if (__atomic_load_n(&met[id % SETS][i], __ATOMIC_RELAXED) == id)
            return true;
    return false;
}

/* Two threads may lose each other's entry: then that allocation is met once more. */
static void note_met(uint64_t id)
{
    uint64_t *set = met[id % SETS];
    for (int i = WAYS - 1; i > 0; i--)
        __atomic_store_n(&set[i], __atomic_load_n(&set[i - 1], __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    __atomic_store_n(&set[0], id, __ATOMIC_RELAXED);
}

/* Where device memory was met, in units of its addresses: a unit is in the place of its number. */
enum { UNIT_BITS = 21, UNITS = 1024 };
static uintptr_t met_units[UNITS]; /* atomic */

/* Returns true if there is nothing to read at an address that was device memory: it was freed. */
static bool is_freed(const void *address)
{
    uintptr_t unit = (uintptr_t)address >> UNIT_BITS;
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)address, 1};
    return __atomic_load_n(&met_units[unit % UNITS], __ATOMIC_RELAXED) == unit &&
           process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0 && errno == EFAULT;
}

static void note_place(const void *address)
{
    uintptr_t unit = (uintptr_t)address >> UNIT_BITS;
    __atomic_store_n(&met_units[unit % UNITS], unit, __ATOMIC_RELAXED);
}

bool tern_accel_find(const void *address, struct tern_accel_place *ret_place)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_accel_place place;
    if (!driver || !address || is_surely_host((uintptr_t)address))
        return false;
    if (!tern_cu_find_place(driver, address, &place)) {
        if (!is_freed(address))
            return false;
        *ret_place = (struct tern_accel_place){.device = TERN_ACCEL_FREED};
        return true;
    }
    if (!was_met(place.id)) {
        note_place(address);
        if (meet(driver, address, &place))
            note_met(place.id);
    }
    *ret_place = place;
    return true;
}

bool tern_accel_is_device(const void *address)
{
    struct tern_accel_place place;
    return tern_accel_find(address, &place);
}
