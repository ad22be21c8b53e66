/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A libcuda.so.1 for tests on machines without a GPU. Device memory is a range of addresses that
 * the processor cannot touch; its bytes are in a file in memory (memfd), which this library has
 * mapped at a second place. So a library that touches a device pointer dies at the instruction that
 * does it, and a system call that is given one fails with EFAULT.
 *
 * Copies on a stream are only noted, and done when somebody waits for the stream: who does not wait
 * sees the old bytes. Misuse is answered as the driver's manual says: no context, freed memory,
 * memory that no allocation holds. When the process ends it lists what was not freed.
 *
 * FAKE_CUDA_BUFFERS=device|managed|mixed|devices (preloaded before interpose.so): what the program
 * itself allocates with malloc becomes device memory. The program may touch it, but not while it is
 * in an MPI call: then the range is closed, and stays so for what was ever a buffer. `mixed`: every second allocation; `devices`: on several
 * devices in turn.
 * FAKE_CUDA_FAIL=N: copy number N, counted from 1, and all later ones fail.
 * FAKE_CUDA_COUNT=1: writes the number of calls to standard error at the end.
 */
#define _GNU_SOURCE
#include "lib/accel/cuda_driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

enum {
    DEVICES = 3,
    GRANULE = 4096, /* a page, so that allocations can be opened one by one */
    ALLOCATIONS = 1 << 20,
    CONTEXTS = 64,
    STREAMS = 256,
    NOT_INITIALIZED = TERN_CU_NOT_INITIALIZED,
    OUT_OF_MEMORY = 2,
    ILLEGAL_ADDRESS = 700,
};
static const size_t arena_bytes = 4ul << 30;

/* ---- memory ---- */

struct allocation {
    size_t first, granules; /* granules == 0: free number */
    size_t bytes;
    int device;
    bool managed, by_malloc;
    uint64_t id;
    bool is_buffer; /* was an argument of a communication */
    struct CUctx_st *context;
};

struct CUctx_st {
    int device;
    bool primary, alive;
    int refs;
};

struct copy {
    struct tern_cu_copy_2d rows; /* width and height of a plain copy: bytes and 1 */
    struct copy *next;
};

struct CUstream_st {
    struct CUctx_st *context;
    struct copy *first, **last;
    bool alive;
};

static char *arena, *shadow;   /* what programs see, and what we touch */
static uint32_t *owners;       /* number of the allocation of each granule; 0: none */
static struct allocation *allocations;
static size_t next_granule;
static uint32_t next_number = 1;
static uint64_t last_id;
static struct CUctx_st contexts[CONTEXTS];
static struct CUstream_st streams[STREAMS];
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static bool initialized;
static long copies, calls, fail_from;
static __thread struct CUctx_st *current[32];
static __thread int depth;

static void die(const char *what)
{
    ssize_t n = write(2, what, strlen(what));
    (void)n;
    abort();
}

static void *reserve(size_t bytes, int protection)
{
    void *at = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        die("fake_cuda: no address space\n");
    return at;
}

/* Called with the gate closed. */
static void set_up(void)
{
    if (arena)
        return;
    int fd = memfd_create("fake_cuda", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)arena_bytes))
        die("fake_cuda: no memory file\n");
    owners = reserve(arena_bytes / GRANULE * sizeof *owners, PROT_READ | PROT_WRITE);
    allocations = reserve(ALLOCATIONS * sizeof *allocations, PROT_READ | PROT_WRITE);
    shadow = mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    arena = mmap(NULL, arena_bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (shadow == MAP_FAILED || arena == MAP_FAILED)
        die("fake_cuda: cannot map the memory file\n");
    close(fd);
    const char *fail = getenv("FAKE_CUDA_FAIL");
    fail_from = fail ? atol(fail) : 0;
}

static bool in_arena(const void *address)
{
    return arena && (char *)address >= arena && (char *)address < arena + arena_bytes;
}

static struct allocation *find(const void *address)
{
    uint32_t number = in_arena(address) ? owners[((char *)address - arena) / GRANULE] : 0;
    return number ? &allocations[number] : NULL;
}

/* Returns where this library reaches the bytes of an address; NULL: it must not be reached. */
static char *reach(const void *address, size_t bytes)
{
    if (!in_arena(address))
        return (char *)address;
    struct allocation *allocation = find(address);
    size_t at = (size_t)((char *)address - arena);
    if (!allocation || at + bytes > allocation->first * GRANULE + allocation->bytes)
        return NULL;
    return shadow + at;
}

static void *take(size_t bytes, struct allocation like)
{
    pthread_mutex_lock(&gate);
    set_up();
    size_t granules = (bytes + GRANULE - 1) / GRANULE + (bytes == 0);
    void *at = NULL;
    /* freed addresses come back only when the range has been used up once: use after free is found */
    for (int round = 0; round < 2 && !at; round++) {
        size_t first = round ? 0 : next_granule, free = 0;
        for (size_t i = first; i < arena_bytes / GRANULE && free < granules; i++) {
            free = owners[i] ? 0 : free + 1;
            first = owners[i] ? i + 1 : first;
        }
        if (free < granules)
            continue;
        while (allocations[next_number].granules)
            next_number = next_number % (ALLOCATIONS - 2) + 1;
        like.first = first;
        like.granules = granules;
        like.bytes = bytes;
        like.id = ++last_id;
        allocations[next_number] = like;
        for (size_t i = 0; i < granules; i++)
            owners[first + i] = next_number;
        next_granule = first + granules;
        next_number = next_number % (ALLOCATIONS - 2) + 1;
        at = arena + first * GRANULE;
    }
    pthread_mutex_unlock(&gate);
    return at;
}

static bool give(void *address)
{
    pthread_mutex_lock(&gate);
    struct allocation *allocation = find(address);
    bool found = allocation && arena + allocation->first * GRANULE == (char *)address;
    if (found) {
        memset(shadow + allocation->first * GRANULE, 0xdb, allocation->bytes);
        memset(&owners[allocation->first], 0, allocation->granules * sizeof *owners);
        allocation->granules = 0;
    }
    pthread_mutex_unlock(&gate);
    return found;
}

/* ---- contexts and streams ---- */

static int usable(void)
{
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    return !initialized                                            ? NOT_INITIALIZED
           : !depth || !current[depth - 1]                         ? TERN_CU_INVALID_CONTEXT
           : !current[depth - 1]->alive                            ? TERN_CU_CONTEXT_IS_DESTROYED
                                                                   : 0;
}

static struct CUctx_st *make_context(int device, bool primary)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (!contexts[i].alive) {
            contexts[i] = (struct CUctx_st){device, primary, true, 1};
            return &contexts[i];
        }
    return NULL;
}

static struct CUctx_st *primary_of(int device)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (contexts[i].alive && contexts[i].primary && contexts[i].device == device)
            return &contexts[i];
    return NULL;
}

static void destroy(struct CUctx_st *context)
{
    context->alive = false;
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].context == context)
            streams[i].alive = false;
    for (uint32_t i = 1; allocations && i < ALLOCATIONS; i++)
        if (allocations[i].granules && allocations[i].context == context)
            give(arena + allocations[i].first * GRANULE);
}

API int cuInit(unsigned flags)
{
    (void)flags;
    initialized = true;
    return 0;
}

API int cuDriverGetVersion(int *ret_version)
{
    *ret_version = 13000;
    return 0;
}

API int cuDeviceGetCount(int *ret_count)
{
    *ret_count = DEVICES;
    return 0;
}

API int cuDeviceGet(int *ret_device, int ordinal)
{
    *ret_device = ordinal;
    return ordinal >= 0 && ordinal < DEVICES ? 0 : 101;
}

API int cuGetErrorName(int error, const char **ret_name)
{
    *ret_name = error == 1     ? "CUDA_ERROR_INVALID_VALUE"
                : error == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
                : error == 3   ? "CUDA_ERROR_NOT_INITIALIZED"
                : error == 201 ? "CUDA_ERROR_INVALID_CONTEXT"
                : error == 400 ? "CUDA_ERROR_INVALID_HANDLE"
                : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                : error == 709 ? "CUDA_ERROR_CONTEXT_IS_DESTROYED"
                               : "CUDA_ERROR_UNKNOWN";
    return 0;
}

API int cuGetErrorString(int error, const char **ret_text)
{
    (void)error;
    *ret_text = "says the fake driver";
    return 0;
}

API int cuCtxPushCurrent_v2(struct CUctx_st *context)
{
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (!initialized)
        return NOT_INITIALIZED;
    if (!context || !context->alive)
        return TERN_CU_INVALID_CONTEXT;
    if (depth == 32)
        die("fake_cuda: contexts are pushed and never popped\n");
    current[depth++] = context;
    return 0;
}

API int cuCtxPopCurrent_v2(struct CUctx_st **ret_context)
{
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (!depth)
        return TERN_CU_INVALID_CONTEXT;
    *ret_context = current[--depth];
    return 0;
}

API int cuCtxSetCurrent(struct CUctx_st *context)
{
    depth = depth ? depth : 1;
    current[depth - 1] = context;
    return 0;
}

API int cuCtxGetCurrent(struct CUctx_st **ret_context)
{
    *ret_context = depth ? current[depth - 1] : NULL;
    return 0;
}

API int cuCtxCreate_v2(struct CUctx_st **ret_context, unsigned flags, int device)
{
    (void)flags;
    if (!initialized)
        return NOT_INITIALIZED;
    *ret_context = make_context(device, false);
    return *ret_context ? cuCtxPushCurrent_v2(*ret_context) : OUT_OF_MEMORY;
}

API int cuCtxDestroy_v2(struct CUctx_st *context)
{
    if (!context->alive)
        return TERN_CU_INVALID_CONTEXT;
    if (depth && current[depth - 1] == context)
        depth--;
    destroy(context);
    return 0;
}

API int cuDevicePrimaryCtxGetState(int device, unsigned *ret_flags, int *ret_active)
{
    *ret_flags = 0;
    *ret_active = primary_of(device) != NULL;
    return 0;
}

API int cuDevicePrimaryCtxRetain(struct CUctx_st **ret_context, int device)
{
    if (!initialized)
        return NOT_INITIALIZED;
    *ret_context = primary_of(device);
    if (*ret_context)
        (*ret_context)->refs++;
    else
        *ret_context = make_context(device, true);
    return 0;
}

API int cuDevicePrimaryCtxRelease_v2(int device)
{
    struct CUctx_st *context = primary_of(device);
    if (!context)
        return TERN_CU_INVALID_CONTEXT;
    if (--context->refs == 0)
        destroy(context);
    return 0;
}

API int cuStreamCreate(struct CUstream_st **ret_stream, unsigned flags)
{
    (void)flags;
    int rc = usable();
    for (int i = 0; i < STREAMS && !rc; i++)
        if (!streams[i].alive) {
            streams[i] = (struct CUstream_st){current[depth - 1], NULL, NULL, true};
            streams[i].last = &streams[i].first;
            *ret_stream = &streams[i];
            return 0;
        }
    return rc ? rc : OUT_OF_MEMORY;
}

/* ---- copies ---- */

static int check_side(int type, const void *host, tern_cu_addr device, size_t x, size_t y,
                      size_t pitch, const struct tern_cu_copy_2d *copy)
{
    const char *at = type == TERN_CU_HOST ? host : (const char *)(uintptr_t)device;
    size_t bytes = (copy->height - 1) * pitch + copy->width;
    bool held = in_arena(at);
    (void)x;
    (void)y;
    if (type == TERN_CU_DEVICE && !find(at))
        return TERN_CU_INVALID_VALUE;
    if (type == TERN_CU_HOST && held && !find(at)->managed)
        return TERN_CU_INVALID_VALUE;
    if (copy->height > 1 && (pitch < copy->width || pitch > INT32_MAX))
        return TERN_CU_INVALID_VALUE;
    return held && !reach(at, bytes) ? TERN_CU_INVALID_VALUE : 0;
}

static int note(const struct tern_cu_copy_2d *copy, struct CUstream_st *stream)
{
    int rc = usable();
    if (rc)
        return rc;
    if (!stream || !stream->alive)
        return TERN_CU_INVALID_HANDLE;
    if (stream->context != current[depth - 1])
        return TERN_CU_INVALID_HANDLE; /* as with the wrong device */
    if (copy->width == 0 || copy->height == 0)
        return 0;
    rc = check_side(copy->from_type, copy->from_host, copy->from_device, copy->from_x,
                    copy->from_y, copy->from_pitch, copy);
    if (!rc)
        rc = check_side(copy->to_type, copy->to_host, copy->to_device, copy->to_x, copy->to_y,
                        copy->to_pitch, copy);
    long number = __atomic_add_fetch(&copies, 1, __ATOMIC_RELAXED);
    if (fail_from && number >= fail_from)
        return ILLEGAL_ADDRESS;
    struct copy *noted = rc ? NULL : malloc(sizeof *noted);
    if (!noted)
        return rc ? rc : OUT_OF_MEMORY;
    *noted = (struct copy){*copy, NULL};
    pthread_mutex_lock(&gate);
    *stream->last = noted;
    stream->last = &noted->next;
    pthread_mutex_unlock(&gate);
    return 0;
}

static void do_copy(const struct tern_cu_copy_2d *copy)
{
    const char *from = copy->from_type == TERN_CU_HOST ? copy->from_host
                                                       : (void *)(uintptr_t)copy->from_device;
    char *to = copy->to_type == TERN_CU_HOST ? copy->to_host : (void *)(uintptr_t)copy->to_device;
    from = in_arena(from) ? shadow + (from - arena) : from;
    to = in_arena(to) ? shadow + (to - arena) : to;
    for (size_t row = 0; row < copy->height; row++)
        memmove(to + row * copy->to_pitch, from + row * copy->from_pitch, copy->width);
}

API int cuStreamSynchronize(struct CUstream_st *stream)
{
    int rc = usable();
    if (rc)
        return rc;
    if (!stream || !stream->alive)
        return TERN_CU_INVALID_HANDLE;
    pthread_mutex_lock(&gate);
    struct copy *first = stream->first;
    stream->first = NULL;
    stream->last = &stream->first;
    for (struct copy *copy = first, *next; copy; copy = next) {
        next = copy->next;
        do_copy(&copy->rows);
        free(copy);
    }
    pthread_mutex_unlock(&gate);
    return 0;
}

static int kind_of(tern_cu_addr address)
{
    return in_arena((void *)(uintptr_t)address) ? TERN_CU_DEVICE : TERN_CU_HOST;
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
    return note(&copy, stream);
}

API int cuMemcpy2DAsync_v2(const struct tern_cu_copy_2d *copy, struct CUstream_st *stream)
{
    return note(copy, stream);
}

static int copy_now(tern_cu_addr to, tern_cu_addr from, size_t bytes)
{
    int rc = usable();
    struct tern_cu_copy_2d copy = plain(to, from, bytes);
    if (!rc && (!reach((void *)(uintptr_t)to, bytes) || !reach((void *)(uintptr_t)from, bytes)))
        rc = TERN_CU_INVALID_VALUE;
    if (!rc)
        do_copy(&copy);
    return rc;
}

API int cuMemcpyHtoD_v2(tern_cu_addr to, const void *from, size_t bytes)
{
    return copy_now(to, (uintptr_t)from, bytes);
}

API int cuMemcpyDtoH_v2(void *to, tern_cu_addr from, size_t bytes)
{
    return copy_now((uintptr_t)to, from, bytes);
}

/* ---- allocations ---- */

static int allocate(tern_cu_addr *ret_address, size_t bytes, bool managed)
{
    int rc = usable();
    if (rc)
        return rc;
    if (!bytes)
        return TERN_CU_INVALID_VALUE;
    void *at = take(bytes, (struct allocation){.device = current[depth - 1]->device,
                                               .managed = managed,
                                               .context = current[depth - 1]});
    *ret_address = (uintptr_t)at;
    return at ? 0 : OUT_OF_MEMORY;
}

API int cuMemAlloc_v2(tern_cu_addr *ret_address, size_t bytes)
{
    return allocate(ret_address, bytes, false);
}

API int cuMemAllocManaged(tern_cu_addr *ret_address, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate(ret_address, bytes, true);
}

/* As memory of a pool: it belongs to a device, and to no context. */
API int cuMemAllocAsync(tern_cu_addr *ret_address, size_t bytes, struct CUstream_st *stream)
{
    (void)stream;
    int rc = usable();
    void *at = rc ? NULL : take(bytes, (struct allocation){.device = current[depth - 1]->device});
    *ret_address = (uintptr_t)at;
    return rc ? rc : at ? 0 : OUT_OF_MEMORY;
}

API int cuMemFree_v2(tern_cu_addr address)
{
    return give((void *)(uintptr_t)address) ? 0 : TERN_CU_INVALID_VALUE;
}

API int cuMemFreeAsync(tern_cu_addr address, struct CUstream_st *stream)
{
    (void)stream;
    return cuMemFree_v2(address);
}

API int cuPointerSetAttribute(const void *value, int attribute, tern_cu_addr address)
{
    (void)value;
    struct allocation *allocation = find((void *)(uintptr_t)address);
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    return attribute == TERN_CU_ATTRIBUTE_SYNC_MEMOPS && allocation && !allocation->managed
               ? 0
               : TERN_CU_INVALID_VALUE;
}

API int cuPointerGetAttributes(unsigned count, int *attributes, void **values, tern_cu_addr address)
{
    struct allocation *allocation = find((void *)(uintptr_t)address);
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (!initialized)
        return NOT_INITIALIZED;
    for (unsigned i = 0; i < count; i++) {
        unsigned word = 0;
        switch (attributes[i]) {
        case TERN_CU_ATTRIBUTE_CONTEXT:
            *(void **)values[i] = allocation ? allocation->context : NULL;
            continue;
        case TERN_CU_ATTRIBUTE_MEMORY_TYPE:
            word = !allocation ? 0 : TERN_CU_DEVICE;
            break;
        case TERN_CU_ATTRIBUTE_BUFFER_ID:
            *(uint64_t *)values[i] = allocation ? allocation->id : 0;
            continue;
        case TERN_CU_ATTRIBUTE_IS_MANAGED: word = allocation && allocation->managed; break;
        case TERN_CU_ATTRIBUTE_DEVICE_ORDINAL:
            word = allocation ? (unsigned)allocation->device : (unsigned)-2;
            break;
        default: return TERN_CU_INVALID_VALUE;
        }
        memcpy(values[i], &word, sizeof word);
    }
    return 0;
}

/* ---- the program's own memory, closed while it is in MPI ---- */

static enum { OFF, DEVICE, MANAGED, MIXED, SEVERAL } mode;
static uintptr_t text_begin, text_end; /* the program */
static long taken;
static int inside; /* threads in MPI calls; atomic */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static int note_program(struct dl_phdr_info *info, size_t size, void *none)
{
    (void)size;
    (void)none;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            text_begin = begin;
            text_end = begin + part->p_memsz;
        }
    }
    return 1; /* the first object is the program */
}

static void open_arena(bool open)
{
    if (arena && mprotect(arena, arena_bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE))
        die("fake_cuda: mprotect fails\n");
}

API void interpose_entered(void);
API void interpose_buffer(const void *buffer);
API void interpose_left(void);

void interpose_buffer(const void *buffer)
{
    struct allocation *allocation = mode ? find(buffer) : NULL;
    if (allocation)
        allocation->is_buffer = true;
}

void interpose_entered(void)
{
    if (mode && __atomic_fetch_add(&inside, 1, __ATOMIC_ACQ_REL) == 0)
        open_arena(false);
}

static void watch_faults(void);

void interpose_left(void)
{
    watch_faults(); /* MPI_Init sets a handler of its own */
    if (mode && __atomic_sub_fetch(&inside, 1, __ATOMIC_ACQ_REL) == 0)
        open_arena(true);
}

static bool in_program(const void *address)
{
    return (uintptr_t)address >= text_begin && (uintptr_t)address < text_end;
}

static struct sigaction before;

/* The program itself may touch its memory in callbacks and in other threads. */
static void fault(int number, siginfo_t *info, void *state)
{
    const ucontext_t *context = state;
#if defined(__x86_64__)
    void *at = (void *)context->uc_mcontext.gregs[REG_RIP];
#else
    void *at = (void *)context->uc_mcontext.pc;
#endif
    int kept = errno;
    if (in_arena(info->si_addr) && in_program(at)) {
        open_arena(true);
        errno = kept;
        return;
    }
    struct allocation *allocation = find(info->si_addr);
    if (allocation && !allocation->is_buffer) { /* an array of counts, of requests, a text */
        mprotect(arena + allocation->first * GRANULE, allocation->granules * GRANULE,
                 PROT_READ | PROT_WRITE);
        errno = kept;
        return;
    }
    if (in_arena(info->si_addr)) {
        static const char text[] = "fake_cuda: the processor touches device memory in an MPI call\n";
        ssize_t n = write(2, text, sizeof text - 1);
        void *frames[16];
        (void)n;
        backtrace_symbols_fd(frames, backtrace(frames, 16), 2);
        _exit(139);
    }
    if (before.sa_flags & SA_SIGINFO && before.sa_sigaction)
        before.sa_sigaction(number, info, state);
    signal(SIGSEGV, SIG_DFL);
}

static void watch_faults(void)
{
    struct sigaction now, action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (!mode || sigaction(SIGSEGV, NULL, &now) || now.sa_sigaction == fault)
        return;
    before = now;
    sigaction(SIGSEGV, &action, NULL);
}

static int next_device(void)
{
    long n = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
    if (mode == MIXED && n % 2)
        return -1;
    return mode == SEVERAL ? (int)(n % DEVICES) : 0;
}

static void *take_for_program(size_t bytes)
{
    int device = next_device();
    struct CUctx_st *context = primary_of(device > 0 ? device : 0);
    return device < 0 ? NULL
                      : take(bytes, (struct allocation){.device = device,
                                                        .managed = mode == MANAGED,
                                                        .by_malloc = true,
                                                        .context = context});
}

API void *malloc(size_t bytes)
{
    void *at = mode && in_program(__builtin_return_address(0)) ? take_for_program(bytes) : NULL;
    return at ? at : __libc_malloc(bytes);
}

API void *calloc(size_t count, size_t bytes)
{
    void *at = mode && in_program(__builtin_return_address(0)) ? take_for_program(count * bytes)
                                                               : NULL;
    if (at)
        memset(shadow + ((char *)at - arena), 0, count * bytes);
    return at ? at : __libc_calloc(count, bytes);
}

API void free(void *address)
{
    if (!in_arena(address))
        __libc_free(address);
    else if (!give(address))
        die("fake_cuda: free of device memory that is not allocated\n");
}

API void *realloc(void *address, size_t bytes)
{
    if (!in_arena(address))
        return __libc_realloc(address, bytes);
    struct allocation *allocation = find(address);
    void *at = take(bytes, *allocation);
    size_t kept = allocation->bytes < bytes ? allocation->bytes : bytes;
    memcpy(shadow + ((char *)at - arena), shadow + ((char *)address - arena), kept);
    give(address);
    return at;
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const words[] = {"", "device", "managed", "mixed", "devices"};
    const char *wish = getenv("FAKE_CUDA_BUFFERS");
    dl_iterate_phdr(note_program, NULL);
    if (!wish || !dlsym(RTLD_DEFAULT, "MPI_Init")) /* mpirun, a shell */
        return;
    pthread_mutex_lock(&gate);
    set_up();
    pthread_mutex_unlock(&gate);
    initialized = true;
    for (int device = 0; device < DEVICES; device++)
        make_context(device, true);
    open_arena(true);
    for (int i = DEVICE; i <= SEVERAL; i++)
        if (strcmp(wish, words[i]) == 0)
            mode = i;
    watch_faults();
}

__attribute__((destructor)) static void end(void)
{
    for (uint32_t i = 1; allocations && !mode && i < ALLOCATIONS; i++)
        if (allocations[i].granules && !allocations[i].by_malloc)
            fprintf(stderr, "fake_cuda: %zu bytes on device %d were not freed\n",
                    allocations[i].bytes, allocations[i].device);
    if (getenv("FAKE_CUDA_COUNT") && arena)
        fprintf(stderr, "fake_cuda: %ld calls, %ld copies\n", calls, copies);
}
