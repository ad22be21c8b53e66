/* SPDX-License-Identifier: BSD-3-Clause */

/* The arena, allocations, and what the driver says of an address. */
#define _GNU_SOURCE
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const size_t fake_arena_bytes = 4ul << 30;
char *fake_arena, *fake_shadow; /* what programs see, and what we touch */
struct fake_shared *fake_shared;
int fake_file = -1;
pthread_mutex_t fake_gate = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static uint32_t *owners; /* number of the allocation of each granule; 0: none */
static struct fake_allocation *allocations;
static size_t next_granule;
static uint32_t next_number = 1, most_number;
static uint64_t last_id;
static bool reuse;

void fake_die(const char *what)
{
    ssize_t n = write(2, what, strlen(what));
    (void)n;
    abort();
}

static void *reserve(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        fake_die("fake_cuda: no address space\n");
    return at;
}

/* Maps a part of the file, `at` an address that is reserved; NULL: anywhere. */
static void *map_file(void *at, int protection, size_t bytes, size_t offset)
{
    int flags = MAP_SHARED | MAP_NORESERVE | (at ? MAP_FIXED : 0);
    at = mmap(at, bytes, protection, flags, fake_file, (off_t)offset);
    if (at == MAP_FAILED)
        fake_die("fake_cuda: cannot map the memory file\n");
    return at;
}

void fake_set_up(void)
{
    if (fake_arena)
        return;
    fake_file = memfd_create("fake_cuda", MFD_CLOEXEC);
    if (fake_file < 0 || ftruncate(fake_file, (off_t)(fake_arena_bytes + sizeof *fake_shared)))
        fake_die("fake_cuda: no memory file\n");
    owners = reserve(fake_arena_bytes / FAKE_GRANULE * sizeof *owners);
    allocations = reserve(FAKE_ALLOCATIONS * sizeof *allocations);
    fake_shadow = map_file(NULL, PROT_READ | PROT_WRITE, fake_arena_bytes, 0);
    fake_shared = map_file(NULL, PROT_READ | PROT_WRITE, sizeof *fake_shared, fake_arena_bytes);
    char *room = reserve(fake_arena_bytes + 2 * FAKE_GRANULE); /* no host memory in its units */
    fake_arena = map_file(room + FAKE_GRANULE - (uintptr_t)room % FAKE_GRANULE, PROT_NONE,
                          fake_arena_bytes, 0);
    reuse = getenv("FAKE_CUDA_REUSE") != NULL;
}

bool fake_in_arena(const void *address)
{
    return fake_arena && (char *)address >= fake_arena &&
           (char *)address < fake_arena + fake_arena_bytes;
}

struct fake_allocation *fake_find(const void *address)
{
    uint32_t number =
        fake_in_arena(address) ? owners[((char *)address - fake_arena) / FAKE_GRANULE] : 0;
    return number ? &allocations[number] : NULL;
}

uint32_t fake_number(const struct fake_allocation *allocation)
{
    return (uint32_t)(allocation - allocations);
}

char *fake_reach(const void *address, size_t bytes)
{
    if (!fake_in_arena(address))
        return (char *)address;
    struct fake_allocation *allocation = fake_find(address);
    size_t at = (size_t)((char *)address - fake_arena);
    if (!allocation || allocation->unmapped ||
        at + bytes > allocation->first * FAKE_GRANULE + allocation->bytes)
        return NULL;
    return fake_shadow + at;
}

/* Finds free granules from number `first` on. Returns the first of them; -1: there are none. */
static long find_room(size_t first, size_t granules)
{
    size_t free = 0;
    for (size_t i = first; i < fake_arena_bytes / FAKE_GRANULE; i++) {
        free = owners[i] ? 0 : free + 1;
        if (free == granules)
            return (long)(i + 1 - granules);
    }
    return -1;
}

static void enter(size_t first, size_t granules, size_t bytes, struct fake_allocation like)
{
    while (allocations[next_number].granules)
        next_number = next_number % (FAKE_ALLOCATIONS - 2) + 1;
    like.first = first;
    like.granules = granules;
    like.bytes = bytes;
    like.id = ++last_id;
    allocations[next_number] = like;
    fake_shared->id[next_number] = like.id;
    fake_shared->opens[next_number] = 0;
    for (size_t i = 0; i < granules; i++)
        owners[first + i] = next_number;
    most_number = next_number > most_number ? next_number : most_number;
    next_number = next_number % (FAKE_ALLOCATIONS - 2) + 1;
    next_granule = first + granules;
}

void *fake_take(size_t bytes, struct fake_allocation like)
{
    pthread_mutex_lock(&fake_gate);
    fake_set_up();
    size_t granules = (bytes + FAKE_GRANULE - 1) / FAKE_GRANULE + (bytes == 0);
    /* freed addresses mostly come back only when the range has been used up once, so that a use after
     * free is found */
    long first = find_room(reuse ? 0 : next_granule, granules);
    if (first < 0)
        first = find_room(0, granules);
    if (first >= 0)
        enter((size_t)first, granules, bytes, like);
    pthread_mutex_unlock(&fake_gate);
    return first < 0 ? NULL : fake_arena + (size_t)first * FAKE_GRANULE;
}

bool fake_give(void *address)
{
    pthread_mutex_lock(&fake_gate);
    struct fake_allocation *allocation = fake_find(address);
    bool found = allocation && fake_arena + allocation->first * FAKE_GRANULE == (char *)address;
    if (found) {
        if (allocation->kind != FAKE_IMPORT) /* also what another process still has open */
            memset(fake_shadow + allocation->first * FAKE_GRANULE, 0xdb, allocation->bytes);
        memset(&owners[allocation->first], 0, allocation->granules * sizeof *owners);
        allocation->granules = 0;
        fake_shared->id[fake_number(allocation)] = 0;
    }
    pthread_mutex_unlock(&fake_gate);
    return found;
}

void fake_each(void (*visit)(struct fake_allocation *allocation))
{
    for (uint32_t i = 1; i <= most_number; i++)
        if (allocations[i].granules)
            visit(&allocations[i]);
}

void fake_give_all_of(const struct CUctx_st *context)
{
    for (uint32_t i = 1; i <= most_number; i++)
        if (allocations[i].granules && allocations[i].context == context) {
            if (allocations[i].import)
                fake_end_import(&allocations[i]);
            else
                fake_give(fake_arena + allocations[i].first * FAKE_GRANULE);
        }
}

/* ---- calls ---- */

static int allocate(tern_cu_addr *ret_address, size_t bytes, enum fake_kind kind, const char *name)
{
    int rc = fake_usable(name);
    if (rc)
        return rc;
    if (!bytes)
        return TERN_CU_INVALID_VALUE;
    /* memory of a pool belongs to a device, and to no context */
    struct CUctx_st *context = fake_current();
    void *at = fake_take(bytes, (struct fake_allocation){
                                    .device = context->device,
                                    .kind = kind,
                                    .context = kind == FAKE_POOL ? NULL : context});
    *ret_address = (uintptr_t)at;
    return at ? 0 : FAKE_OUT_OF_MEMORY;
}

API int cuMemAlloc_v2(tern_cu_addr *ret_address, size_t bytes)
{
    return allocate(ret_address, bytes, FAKE_PLAIN, __func__);
}

API int cuMemAllocManaged(tern_cu_addr *ret_address, size_t bytes, unsigned flags)
{
    return flags == 1 || flags == 2 ? allocate(ret_address, bytes, FAKE_MANAGED, __func__)
                                    : TERN_CU_INVALID_VALUE;
}

API int cuMemAllocAsync(tern_cu_addr *ret_address, size_t bytes, struct CUstream_st *stream)
{
    (void)stream;
    return allocate(ret_address, bytes, FAKE_POOL, __func__);
}

API int cuMemFree_v2(tern_cu_addr address)
{
    struct fake_allocation *allocation = fake_find((void *)(uintptr_t)address);
    fake_count(__func__);
    if (!allocation || allocation->kind == FAKE_IMPORT || allocation->kind == FAKE_VIRTUAL)
        return TERN_CU_INVALID_VALUE;
    fake_finish_late(); /* a driver waits for all that the device does */
    return fake_give((void *)(uintptr_t)address) ? 0 : TERN_CU_INVALID_VALUE;
}

API int cuMemFreeAsync(tern_cu_addr address, struct CUstream_st *stream)
{
    (void)stream;
    return cuMemFree_v2(address);
}

API int cuMemGetAddressRange_v2(tern_cu_addr *ret_base, size_t *ret_bytes, tern_cu_addr address)
{
    int rc = fake_usable(__func__);
    struct fake_allocation *allocation = fake_find((void *)(uintptr_t)address);
    if (rc || !allocation)
        return rc ? rc : TERN_CU_INVALID_VALUE;
    *ret_base = (uintptr_t)(fake_arena + allocation->first * FAKE_GRANULE);
    *ret_bytes = allocation->bytes;
    return 0;
}

API int cuPointerSetAttribute(const void *value, int attribute, tern_cu_addr address)
{
    (void)value;
    struct fake_allocation *allocation = fake_find((void *)(uintptr_t)address);
    fake_count(__func__);
    if (attribute != TERN_CU_ATTRIBUTE_SYNC_MEMOPS || !allocation)
        return TERN_CU_INVALID_VALUE;
    /* what belongs to no context, as memory of pools, stays as it is: a driver says nothing of it */
    __atomic_store_n(&allocation->synchronous, allocation->context != NULL, __ATOMIC_RELAXED);
    return 0;
}

/* Sets one attribute of an address. Returns false if we do not know the attribute. */
static bool answer(int attribute, void *ret_value, const struct fake_allocation *allocation,
                   bool pinned, tern_cu_addr address)
{
    unsigned word = 0;
    switch (attribute) {
    case TERN_CU_ATTRIBUTE_CONTEXT:
        *(void **)ret_value = allocation ? allocation->context : NULL;
        return true;
    case TERN_CU_ATTRIBUTE_DEVICE_POINTER:
        *(tern_cu_addr *)ret_value = allocation || pinned ? address : 0;
        return true;
    case TERN_CU_ATTRIBUTE_BUFFER_ID:
        *(uint64_t *)ret_value = allocation ? allocation->id : 0;
        return true;
    case TERN_CU_ATTRIBUTE_MEMORY_TYPE:
        word = allocation ? TERN_CU_DEVICE : pinned ? TERN_CU_HOST : 0;
        break;
    case TERN_CU_ATTRIBUTE_IS_MANAGED: word = allocation && allocation->kind == FAKE_MANAGED; break;
    case TERN_CU_ATTRIBUTE_DEVICE_ORDINAL:
        word = allocation ? (unsigned)allocation->device : (unsigned)-2;
        break;
    default: return false;
    }
    memcpy(ret_value, &word, sizeof word);
    return true;
}

API int cuPointerGetAttributes(unsigned count, int *attributes, void **values, tern_cu_addr address)
{
    int rc = 0;
    fake_count(__func__);
    if (!fake_initialized)
        return TERN_CU_NOT_INITIALIZED;
    pthread_mutex_lock(&fake_gate); /* another thread may free what is asked about */
    struct fake_allocation *allocation = fake_find((void *)(uintptr_t)address);
    if (allocation && allocation->unmapped)
        allocation = NULL;
    bool pinned = !allocation && fake_is_pinned((void *)(uintptr_t)address);
    for (unsigned i = 0; i < count && !rc; i++)
        if (!answer(attributes[i], values[i], allocation, pinned, address))
            rc = TERN_CU_INVALID_VALUE;
    pthread_mutex_unlock(&fake_gate);
    return rc;
}

/* ---- counts, and what was left ---- */

static struct {
    const char *name; /* atomic */
    long calls;       /* atomic */
} counts[96];

void fake_count(const char *name)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *none = NULL;
        if (__atomic_load_n(&counts[i].name, __ATOMIC_RELAXED) == name ||
            __atomic_compare_exchange_n(&counts[i].name, &none, name, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            none == name) {
            __atomic_fetch_add(&counts[i].calls, 1, __ATOMIC_RELAXED);
            return;
        }
    }
}

API long fake_cuda_calls(const char *name)
{
    long sum = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *counted = __atomic_load_n(&counts[i].name, __ATOMIC_RELAXED);
        if (counted && (!name || strcmp(counted, name) == 0))
            sum += __atomic_load_n(&counts[i].calls, __ATOMIC_RELAXED);
    }
    return sum;
}

static void list(struct fake_allocation *allocation)
{
    if (!allocation->by_malloc && allocation->kind != FAKE_IMPORT)
        fprintf(stderr, "fake_cuda: %zu bytes on device %d were not freed\n", allocation->bytes,
                allocation->device);
}

__attribute__((destructor)) static void end(void)
{
    fake_each(list);
    fake_list_imports();
    fake_list_virtual();
    fake_list_streams();
    fake_list_modules();
    fake_list_contexts();
    if (!getenv("FAKE_CUDA_COUNT") || !fake_arena)
        return;
    fprintf(stderr, "fake_cuda: %ld calls\n", fake_cuda_calls(NULL));
    for (size_t i = 0; i < sizeof counts / sizeof *counts && counts[i].name; i++)
        fprintf(stderr, "fake_cuda: %8ld %s\n", counts[i].calls, counts[i].name);
}
