/* SPDX-License-Identifier: BSD-3-Clause */

/* Virtual memory management: addresses, and memory that is mapped there. And host memory that the
 * driver has pinned: the processor may touch it. */
#define _GNU_SOURCE
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- pinned host memory ---- */

enum { PINNED = 1024, PAGE = 4096 };

static struct {
    char *at;
    size_t bytes;
    bool ours; /* allocated here; else the program's, registered */
    const struct CUctx_st *context; /* with which a registration goes */
} pinned[PINNED];

/* Returns the index of the entry that holds the address; -1: none. */
static int find_pinned(const void *address)
{
    for (int i = 0; i < PINNED; i++)
        if (pinned[i].at && (char *)address >= pinned[i].at &&
            (char *)address < pinned[i].at + pinned[i].bytes)
            return i;
    return -1;
}

bool fake_holds_pinned(const void *address)
{
    return find_pinned(address) >= 0;
}

bool fake_is_pinned(const void *address)
{
    pthread_mutex_lock(&fake_gate);
    bool is = find_pinned(address) >= 0;
    pthread_mutex_unlock(&fake_gate);
    return is;
}

static bool is_wished(const char *word)
{
    const char *wish = getenv("FAKE_CUDA_PINNED");
    return wish && strcmp(wish, word) == 0;
}

/* Returns how many bytes this process has locked. */
static size_t locked_bytes(void)
{
    char line[200];
    size_t kib = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmLck: %zu", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib << 10;
}

/* Locks the pages that hold some memory, or unlocks them. Returns false if more would be locked
 * than RLIMIT_MEMLOCK permits. The kernel lets a privileged process pass its limit, so we count,
 * too. A sanitizer's mlock does nothing, so the kernel is called without it. */
static bool lock_pages(const char *at, size_t bytes, bool on)
{
    struct rlimit limit;
    uintptr_t first = (uintptr_t)at & -(uintptr_t)PAGE;
    size_t length = ((uintptr_t)at + bytes + PAGE - 1 - first) & -(size_t)PAGE;
    if (!is_wished("locks"))
        return true;
    if (!on)
        return syscall(SYS_munlock, first, length) == 0;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        locked_bytes() + length > limit.rlim_cur)
        return false;
    return syscall(SYS_mlock, first, length) == 0;
}

/* Frees an entry. */
static void release(int i)
{
    lock_pages(pinned[i].at, pinned[i].bytes, false);
    pinned[i].at = NULL;
}

static int enter(void *at, size_t bytes, bool ours)
{
    int rc = FAKE_OUT_OF_MEMORY;
    pthread_mutex_lock(&fake_gate);
    bool locked = lock_pages(at, bytes, true);
    fake_count(locked ? "pinned" : "not pinned");
    for (int i = 0; i < PINNED && rc && locked; i++)
        if (!pinned[i].at) {
            pinned[i].at = at;
            pinned[i].bytes = bytes;
            pinned[i].ours = ours;
            pinned[i].context = fake_current();
            rc = 0;
        }
    pthread_mutex_unlock(&fake_gate);
    return rc;
}

static int leave(const char *name, void *at, bool ours)
{
    int rc = fake_usable(name);
    pthread_mutex_lock(&fake_gate);
    int i = find_pinned(at);
    if (!rc && (i < 0 || pinned[i].at != at || pinned[i].ours != ours))
        rc = TERN_CU_INVALID_VALUE;
    if (!rc)
        release(i);
    pthread_mutex_unlock(&fake_gate);
    return rc;
}

void fake_forget_registered(const struct CUctx_st *context)
{
    pthread_mutex_lock(&fake_gate);
    for (int i = 0; i < PINNED; i++)
        if (!pinned[i].ours && pinned[i].context == context && pinned[i].at)
            release(i);
    pthread_mutex_unlock(&fake_gate);
}

API int cuMemAllocHost_v2(void **ret_at, size_t bytes)
{
    int rc = fake_usable(__func__);
    *ret_at = rc || !bytes ? NULL : aligned_alloc(PAGE, (bytes + PAGE - 1) & -(size_t)PAGE);
    if (rc || !*ret_at)
        return rc ? rc : TERN_CU_INVALID_VALUE;
    rc = enter(*ret_at, bytes, true);
    if (rc)
        free(*ret_at);
    return rc;
}

API int cuMemHostAlloc(void **ret_at, size_t bytes, unsigned flags)
{
    enum { PORTABLE = 1, MAPPED = 2, WRITE_COMBINED = 4 };
    return flags & ~(unsigned)(PORTABLE | MAPPED | WRITE_COMBINED) ? TERN_CU_INVALID_VALUE
                                                                  : cuMemAllocHost_v2(ret_at, bytes);
}

API int cuMemFreeHost(void *at)
{
    int rc = leave(__func__, at, true);
    if (!rc)
        free(at);
    return rc;
}

API int cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags)
{
    int rc = fake_usable(__func__);
    (void)flags;
    if (rc || !at || !bytes || fake_is_pinned(at))
        return rc ? rc : fake_is_pinned(at) ? 712 : TERN_CU_INVALID_VALUE;
    if (is_wished("none"))
        return FAKE_OUT_OF_MEMORY;
    return enter(at, bytes, false);
}

API int cuMemHostUnregister(void *at)
{
    return leave(__func__, at, false);
}

/* ---- virtual memory ---- */

enum { MEMORIES = 64 };

/* Memory without an address. */
static struct memory {
    size_t bytes; /* 0: free entry */
    int device;
    int mapped;   /* how often */
    bool released;
} memories[MEMORIES];

struct properties { /* CUmemAllocationProp */
    int type, handle_types, location_type, device;
};

API int cuMemGetAllocationGranularity(size_t *ret_bytes, const struct properties *properties,
                                      int option)
{
    (void)properties;
    (void)option;
    fake_count(__func__);
    *ret_bytes = 2ul << 20;
    return fake_initialized ? 0 : TERN_CU_NOT_INITIALIZED;
}

API int cuMemCreate(uint64_t *ret_memory, size_t bytes, const struct properties *properties,
                    uint64_t flags)
{
    fake_count(__func__);
    if (!fake_initialized)
        return TERN_CU_NOT_INITIALIZED;
    if (!bytes || bytes % (2ul << 20) || flags || properties->type != 1)
        return TERN_CU_INVALID_VALUE;
    for (int i = 0; i < MEMORIES; i++)
        if (!memories[i].bytes) {
            memories[i] = (struct memory){.bytes = bytes, .device = properties->device};
            *ret_memory = (uint64_t)i + 1;
            return 0;
        }
    return FAKE_OUT_OF_MEMORY;
}

static struct memory *memory_of(uint64_t number)
{
    return number && number <= MEMORIES && memories[number - 1].bytes ? &memories[number - 1] : NULL;
}

static void forget_unused(struct memory *memory)
{
    if (memory->released && !memory->mapped)
        memory->bytes = 0;
}

API int cuMemRelease(uint64_t number)
{
    struct memory *memory = memory_of(number);
    fake_count(__func__);
    if (!memory || memory->released)
        return TERN_CU_INVALID_VALUE;
    memory->released = true;
    forget_unused(memory);
    return 0;
}

API int cuMemAddressReserve(tern_cu_addr *ret_address, size_t bytes, size_t alignment,
                            tern_cu_addr wanted, uint64_t flags)
{
    (void)alignment;
    (void)wanted;
    fake_count(__func__);
    if (!fake_initialized || !bytes || flags)
        return fake_initialized ? TERN_CU_INVALID_VALUE : TERN_CU_NOT_INITIALIZED;
    void *at = fake_take(bytes, (struct fake_allocation){.kind = FAKE_VIRTUAL, .unmapped = true});
    *ret_address = (uintptr_t)at;
    return at ? 0 : FAKE_OUT_OF_MEMORY;
}

/* Returns the reservation that begins at an address; NULL: none. */
static struct fake_allocation *reservation(tern_cu_addr address, size_t bytes)
{
    struct fake_allocation *allocation = fake_find((void *)(uintptr_t)address);
    bool whole = allocation && allocation->kind == FAKE_VIRTUAL && allocation->bytes == bytes &&
                 fake_arena + allocation->first * FAKE_GRANULE == (char *)(uintptr_t)address;
    return whole ? allocation : NULL;
}

API int cuMemAddressFree(tern_cu_addr address, size_t bytes)
{
    struct fake_allocation *allocation = reservation(address, bytes);
    fake_count(__func__);
    if (!allocation || allocation->import)
        return TERN_CU_INVALID_VALUE;
    return fake_give((void *)(uintptr_t)address) ? 0 : TERN_CU_INVALID_VALUE;
}

static int backing[MEMORIES]; /* number of the allocation that a memory is mapped at */

API int cuMemMap(tern_cu_addr address, size_t bytes, size_t offset, uint64_t number, uint64_t flags)
{
    struct fake_allocation *allocation = reservation(address, bytes);
    struct memory *memory = memory_of(number);
    fake_count(__func__);
    if (!allocation || !memory || offset || flags || memory->mapped || memory->bytes != bytes)
        return TERN_CU_INVALID_VALUE;
    memory->mapped++;
    backing[number - 1] = (int)fake_number(allocation);
    allocation->device = memory->device;
    return 0;
}

API int cuMemUnmap(tern_cu_addr address, size_t bytes)
{
    struct fake_allocation *allocation = reservation(address, bytes);
    fake_count(__func__);
    for (int i = 0; allocation && i < MEMORIES; i++)
        if (memories[i].mapped && backing[i] == (int)fake_number(allocation)) {
            memories[i].mapped--;
            forget_unused(&memories[i]);
            allocation->unmapped = true;
            return 0;
        }
    return TERN_CU_INVALID_VALUE;
}

API int cuMemSetAccess(tern_cu_addr address, size_t bytes, const void *access, size_t count)
{
    struct fake_allocation *allocation = reservation(address, bytes);
    (void)access;
    fake_count(__func__);
    for (int i = 0; allocation && count && i < MEMORIES; i++)
        if (memories[i].mapped && backing[i] == (int)fake_number(allocation)) {
            allocation->unmapped = false;
            return 0;
        }
    return TERN_CU_INVALID_VALUE;
}

void fake_list_virtual(void)
{
    for (int i = 0; i < PINNED; i++)
        if (pinned[i].at)
            fprintf(stderr, "fake_cuda: %zu bytes of pinned host memory were not %s\n",
                    pinned[i].bytes, pinned[i].ours ? "freed" : "unregistered");
    for (int i = 0; i < MEMORIES; i++)
        if (memories[i].bytes)
            fprintf(stderr, "fake_cuda: %zu bytes of virtual memory were not released\n",
                    memories[i].bytes);
}
