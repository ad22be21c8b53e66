/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

/* What the test programs call of the CUDA driver API: of the fake driver, or of a real one. They
 * load it themselves, from the file that FAKE_CUDA names. */

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct CUctx_st *context;

static int (*cu_init)(unsigned);
static int (*cu_count)(int *);
static int (*cu_retain)(context *, int);
static int (*cu_set)(context);
static int (*cu_create)(context *, unsigned, int);
static int (*cu_destroy)(context);
static int (*cu_alloc)(uint64_t *, size_t);
static int (*cu_alloc_managed)(uint64_t *, size_t, unsigned);
static int (*cu_alloc_pool)(uint64_t *, size_t, void *);
static int (*cu_free)(uint64_t);
static int (*cu_to_device)(uint64_t, const void *, size_t);
static int (*cu_to_host)(void *, uint64_t, size_t);

static void must(int result, const char *what)
{
    if (result) {
        fprintf(stderr, "FAILED: %s returns %d\n", what, result);
        exit(1);
    }
}
#define CU(call) must(call, #call)

static void load_driver(void)
{
    void *library = dlopen(getenv("FAKE_CUDA"), RTLD_NOW);
    must(!library, "dlopen of the fake driver");
    *(void **)&cu_init = dlsym(library, "cuInit");
    *(void **)&cu_count = dlsym(library, "cuDeviceGetCount");
    *(void **)&cu_retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&cu_set = dlsym(library, "cuCtxSetCurrent");
    *(void **)&cu_create = dlsym(library, "cuCtxCreate_v2");
    *(void **)&cu_destroy = dlsym(library, "cuCtxDestroy_v2");
    *(void **)&cu_alloc = dlsym(library, "cuMemAlloc_v2");
    *(void **)&cu_alloc_managed = dlsym(library, "cuMemAllocManaged");
    *(void **)&cu_alloc_pool = dlsym(library, "cuMemAllocAsync");
    *(void **)&cu_free = dlsym(library, "cuMemFree_v2");
    *(void **)&cu_to_device = dlsym(library, "cuMemcpyHtoD_v2");
    *(void **)&cu_to_host = dlsym(library, "cuMemcpyDtoH_v2");
    CU(cu_init(0));
}

/* Returns the fake driver's count of calls by name; NULL from a real driver. */
static inline long (*find_calls(void))(const char *)
{
    long (*calls)(const char *);
    *(void **)&calls = dlsym(dlopen(getenv("FAKE_CUDA"), RTLD_NOW), "fake_cuda_calls");
    return calls;
}

/* Returns `bytes` bytes on the device of the current context. */
static inline void *on_device(size_t bytes)
{
    uint64_t address;
    CU(cu_alloc(&address, bytes));
    return (void *)(uintptr_t)address;
}

#endif
