/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Makes device memory of what a program allocates with malloc. Preload the fake driver, this library,
 * and interpose.so, in this order. The program may touch its memory, but not while it is in an MPI
 * call: then the arena is closed, and stays so for what was ever a buffer.
 *
 * FAKE_CUDA_BUFFERS=device|managed|mixed|devices   `mixed`: every second allocation; `devices`: on
 *                                                  several devices in turn
 */
#define _GNU_SOURCE
#include "fake.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

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
    if (fake_arena && mprotect(fake_arena, fake_arena_bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE))
        fake_die("fake_cuda: mprotect fails\n");
}

API void interpose_entered(void);
API void interpose_buffer(const void *buffer);
API void interpose_left(void);

void interpose_buffer(const void *buffer)
{
    struct fake_allocation *allocation = mode ? fake_find(buffer) : NULL;
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
    if (fake_in_arena(info->si_addr) && in_program(at)) {
        open_arena(true);
        errno = kept;
        return;
    }
    struct fake_allocation *allocation = fake_find(info->si_addr);
    if (allocation && !allocation->is_buffer) { /* an array of counts, of requests, a text */
        mprotect(fake_arena + allocation->first * FAKE_GRANULE, allocation->granules * FAKE_GRANULE,
                 PROT_READ | PROT_WRITE);
        errno = kept;
        return;
    }
    if (fake_in_arena(info->si_addr)) {
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
    return mode == SEVERAL ? (int)(n % FAKE_SEEN) : 0;
}

static void *take_for_program(size_t bytes)
{
    int device = next_device();
    struct CUctx_st *context = fake_primary_of(device > 0 ? device : 0);
    return device < 0 ? NULL
                      : fake_take(bytes, (struct fake_allocation){.device = device,
                                                        .kind = mode == MANAGED ? FAKE_MANAGED : FAKE_PLAIN,
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
        memset(fake_shadow + ((char *)at - fake_arena), 0, count * bytes);
    return at ? at : __libc_calloc(count, bytes);
}

API void free(void *address)
{
    if (!fake_in_arena(address))
        __libc_free(address);
    else if (!fake_give(address))
        fake_die("fake_cuda: free of device memory that is not allocated\n");
}

API void *realloc(void *address, size_t bytes)
{
    if (!fake_in_arena(address))
        return __libc_realloc(address, bytes);
    struct fake_allocation *allocation = fake_find(address);
    void *at = fake_take(bytes, *allocation);
    size_t kept = allocation->bytes < bytes ? allocation->bytes : bytes;
    memcpy(fake_shadow + ((char *)at - fake_arena), fake_shadow + ((char *)address - fake_arena), kept);
    fake_give(address);
    return at;
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const words[] = {"", "device", "managed", "mixed", "devices"};
    const char *wish = getenv("FAKE_CUDA_BUFFERS");
    dl_iterate_phdr(note_program, NULL);
    if (!wish || !dlsym(RTLD_DEFAULT, "MPI_Init")) /* mpirun, a shell */
        return;
    pthread_mutex_lock(&fake_gate);
    fake_set_up();
    pthread_mutex_unlock(&fake_gate);
    for (int device = 0; device < FAKE_SEEN; device++)
        fake_make_primary(device);
    open_arena(true);
    for (int i = DEVICE; i <= SEVERAL; i++)
        if (strcmp(wish, words[i]) == 0)
            mode = i;
    watch_faults();
}
