/* SPDX-License-Identifier: BSD-3-Clause */

/* Which addresses are in device memory. */
#include "lib/accel/accel.h"

#include "lib/accel/cuda_driver.h"
#include "lib/accel/device_context.h"
#include "lib/util/now.h"
#include "lib/util/param.h"

#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool tern_accel_watched;

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

/* Waits until what the program has queued in its default streams has been done, but at most one
 * second: a kernel there may wait for this message. */
static void settle(const struct tern_cu_driver *driver)
{
    static const uintptr_t defaults[] = {TERN_CU_STREAM_LEGACY, TERN_CU_STREAM_PER_THREAD};
    enum { MOST_NS = 1000000000 };
    uint64_t begin = tern_now_ns();
    for (int i = 0; i < 2; i++)
        while (driver->stream_query((tern_cu_stream)defaults[i]) == TERN_CU_NOT_READY &&
               tern_now_ns() - begin < MOST_NS)
            sched_yield();
}

/*
 * Meets an allocation for the first time. The program's own copies of short pieces from ordinary
 * host memory may return before they have ended (CUDA driver API, "API synchronization behavior"),
 * and our streams do not wait for the program's. So from now on such copies of this allocation end
 * before they return, and those that were begun are awaited.
 */
static void meet(const struct tern_cu_driver *driver, const void *address,
                 const struct tern_accel_place *place)
{
    struct tern_accel_entry entry;
    unsigned on = 1;
    if (tern_cu_enter(driver, place, &entry))
        return;
    tern_cu_forget_earlier(driver, &entry);
    driver->pointer_set(&on, TERN_CU_ATTRIBUTE_SYNC_MEMOPS, (uintptr_t)address);
    settle(driver);
    tern_cu_leave(driver, &entry);
}

bool tern_accel_find(const void *address, struct tern_accel_place *ret_place)
{
    enum { IDS = 256 };
    static uint64_t met[IDS]; /* ids of allocations; atomic */
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_accel_place place;
    if (!driver || !address || is_surely_host((uintptr_t)address) ||
        !tern_cu_find_place(driver, address, &place))
        return false;
    if (!place.id || __atomic_load_n(&met[place.id % IDS], __ATOMIC_RELAXED) != place.id) {
        meet(driver, address, &place);
        __atomic_store_n(&met[place.id % IDS], place.id, __ATOMIC_RELAXED);
    }
    *ret_place = place;
    return true;
}

bool tern_accel_is_device(const void *address)
{
    struct tern_accel_place place;
    return tern_accel_find(address, &place);
}
