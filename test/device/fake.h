/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_H
#define FAKE_H

/*
 * A libcuda.so.1 for tests on machines without a GPU: what its files share.
 *
 *      fake_memory.c   addresses that the processor cannot touch, allocations, attributes
 *      fake_context.c  devices and contexts
 *      fake_stream.c   streams, copies, events
 *      fake_ipc.c      handles that other processes open
 *      fake_dmabuf.c   what network cards reach
 *      fake_virtual.c  virtual memory management (VMM), pinned host memory
 *      fake_kernel.c   modules, and in C what the library's kernels do
 *      fake_heap.c     another library: makes a program's own heap device memory
 *
 * Device memory is a range of addresses that the processor cannot touch (the arena); its bytes are in
 * a file in memory, which this library has mapped at a second place (the shadow). So a library that
 * touches a device pointer dies at the instruction that does it, and a system call that is given one
 * fails with EFAULT. Another process maps the file to open a handle.
 *
 * Misuse is answered as the driver's manual says: no context, freed memory, memory that no allocation
 * holds, a stale handle. When the process ends, the library lists what was not freed.
 *
 * Copies of up to 64 KiB from ordinary host memory return before they are done, unless the memory was
 * made synchronous (which pools, VMM and managed memory cannot be), or the context. A stream or an event that went with its context ends the process, as the real driver
 * may do.
 *
 * Environment:
 * FAKE_CUDA_DELAY_US=N    each stream is a thread, which waits up to N us before each operation.
 *                         Default: an operation is done as late as possible, when somebody waits for
 *                         it or has asked three times.
 * FAKE_CUDA_FAIL=N        copy number N, counted from 1, and all later ones fail
 * FAKE_CUDA_SLOW=N        copies on device N pass 0.2 GB/s, on others 2 GB/s
 * FAKE_CUDA_REUSE=1       a freed address is used again at once
 * FAKE_CUDA_IPC=none|mig  handles cannot be made; handles of another process cannot be opened, as
 *                         between instances of a MIG device
 * FAKE_CUDA_DMABUF=none   no descriptors (DMA-BUF) can be made
 * FAKE_CUDA_FLAGS=none    the flags of a context cannot be set, as in drivers before CUDA 12.1
 * FAKE_CUDA_KERNELS=none  no kernel can be loaded
 * FAKE_CUDA_PINNED=none   no host memory can be registered
 * FAKE_CUDA_PINNED=locks  pinned host memory is locked, up to RLIMIT_MEMLOCK; the limit holds for root, too
 * FAKE_CUDA_PEERS=none    no device reaches the memory of another device
 * CUDA_VISIBLE_DEVICES    as the driver has it, numbers only
 * FAKE_CUDA_COUNT=1       writes the number of calls to standard error at the end
 */

#include "lib/accel/cuda_driver.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))
#pragma GCC visibility push(default) /* fake_heap.c is another library */

enum {
    FAKE_DEVICES = 8, /* that there are; unless CUDA_VISIBLE_DEVICES names them, the first 3 are seen */
    FAKE_SEEN = 3,
    FAKE_GRANULE = 64 << 10, /* allocations can be opened one by one, and devices share no such unit */
    FAKE_ALLOCATIONS = 1 << 20,
    FAKE_OUT_OF_MEMORY = 2,
    FAKE_INVALID_DEVICE = 101,
    FAKE_ALREADY_MAPPED = 208,
    FAKE_PEER_ACCESS_UNSUPPORTED = 217,
    FAKE_NOT_READY = 600,
    FAKE_ILLEGAL_ADDRESS = 700,
    FAKE_NOT_SUPPORTED = 801,
};
extern const size_t fake_arena_bytes;

/* How memory came into being. */
enum fake_kind { FAKE_PLAIN, FAKE_MANAGED, FAKE_POOL, FAKE_VIRTUAL, FAKE_IMPORT };

struct CUctx_st {
    int device; /* as this process counts */
    bool primary;
    bool alive; /* atomic */
    int refs;
    unsigned long long id; /* never used again */
    unsigned flags;        /* atomic */
};

struct fake_allocation {
    size_t first, granules; /* granules == 0: free number */
    size_t bytes;
    int device; /* as this process counts */
    enum fake_kind kind;
    bool by_malloc;
    bool is_buffer; /* was an argument of a communication */
    bool synchronous; /* the program's copies end before they return (SYNC_MEMOPS); atomic */
    bool unmapped;  /* an address of virtual memory with nothing behind it */
    uint64_t id;
    struct CUctx_st *context;
    struct fake_import *import;
};

/* What other processes read and write of an allocation, by its number. In the file, behind the
 * arena. */
struct fake_shared {
    uint64_t id[FAKE_ALLOCATIONS];    /* 0: freed */
    uint32_t opens[FAKE_ALLOCATIONS]; /* by other processes; atomic */
};

/* fake_memory.c. The gate is this library's only lock. A thread may close it again, unless it awaits
 * an operation of a stream. */
extern pthread_mutex_t fake_gate;
extern char *fake_arena, *fake_shadow;
extern struct fake_shared *fake_shared;
extern int fake_file;
void fake_die(const char *what) __attribute__((noreturn));
/* Makes the arena. Call with the gate closed. */
void fake_set_up(void);
bool fake_in_arena(const void *address);
/* Returns the allocation that holds the address; NULL: none. Its number is its index. */
struct fake_allocation *fake_find(const void *address);
uint32_t fake_number(const struct fake_allocation *allocation);
/* Returns where this library reaches the bytes of an address; NULL: they must not be reached. */
char *fake_reach(const void *address, size_t bytes);
/* Allocates; NULL: no room. The gate is open. */
void *fake_take(size_t bytes, struct fake_allocation like);
/* Frees. Returns false if the address is not the first one of an allocation. */
bool fake_give(void *address);
/* Frees all memory of a context. */
void fake_give_all_of(const struct CUctx_st *context);
/* Calls `visit` for each allocation. */
void fake_each(void (*visit)(struct fake_allocation *allocation));
/* Counts a call of the driver. */
void fake_count(const char *name);

/* fake_context.c */
extern bool fake_initialized;
/* Returns the current context; NULL: none. */
struct CUctx_st *fake_current(void);
/* Counts a call, and returns what is wrong with the current context; 0: nothing. */
int fake_usable(const char *name);
struct CUctx_st *fake_primary_of(int device);
struct CUctx_st *fake_make_primary(int device);
/* Returns the physical number of a device. */
int fake_physical(int device);
bool fake_peers(int physical, int other);
void fake_list_contexts(void);

/* fake_stream.c */
/* Waits for the copies of the current context that cuMemcpyHtoD has left for later. */
void fake_finish_late(void);
void fake_forget_streams(const struct CUctx_st *context);
void fake_list_streams(void);

/* fake_ipc.c. Returns the physical number of the device that has an address; -1: it is in host
 * memory. The gate is closed. */
int fake_device_of(const void *address);
/* Closes a handle, also one whose context is destroyed. */
void fake_end_import(struct fake_allocation *allocation);
void fake_list_imports(void);
/* fake_virtual.c. Returns true if the address is in host memory that the driver has pinned. */
bool fake_is_pinned(const void *address);
/* The same, with the gate closed. */
bool fake_holds_pinned(const void *address);
/* Ends the registrations that were made in a context. */
void fake_forget_registered(const struct CUctx_st *context);
void fake_list_virtual(void);

/* fake_kernel.c. A kernel that was started; a reduction's `in` is `base`, its `inout` is `packed`. */
struct fake_launch {
    char name[48];
    const struct CUctx_st *context;
    uint64_t base, packed, count;
    uint32_t first_unit, units, per, counts[3];
    int64_t strides[4];
};
/* Copies the arguments of a kernel. Returns false if the kernel is not of this context. */
bool fake_read_launch(struct CUfunc_st *function, void **arguments, struct fake_launch *ret_launch);
/* Does the work. Returns 0 or the driver's error. */
int fake_do_launch(const struct fake_launch *launch);
void fake_forget_modules(const struct CUctx_st *context);
void fake_list_modules(void);

/* For the network card of test/ofi, see fake_dmabuf.c. */
API void *fake_cuda_window(const void *address, size_t bytes, int *ret_device, uint64_t *ret_id);
API bool fake_cuda_descriptor(int fd, uint64_t *ret_address, size_t *ret_bytes);
/* For test programs: returns how often a function of the driver was called; NULL: all of them. */
API long fake_cuda_calls(const char *name);
/* Returns how many bytes this process has copied from one device to another, by physical numbers. */
API long fake_cuda_bytes(int from, int to);

#pragma GCC visibility pop
#endif
