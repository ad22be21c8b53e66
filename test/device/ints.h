/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INTS_H
#define INTS_H

/* Arrays of ints: first, first + 1, ... Include it behind check.h and fake_cuda.h. */

/* Kinds of memory. */
enum { HOST, DEVICE, MANAGED, POOL };

/* Returns memory for `n` ints, on the device of the current context unless `kind` is HOST. */
static inline int *take_ints(int kind, int n)
{
    uint64_t address;
    size_t bytes = (size_t)n * sizeof(int);
    if (kind == HOST)
        return malloc(bytes);
    if (kind == MANAGED)
        CU(cu_alloc_managed(&address, bytes, 1));
    else if (kind == POOL)
        CU(cu_alloc_pool(&address, bytes, NULL));
    else
        CU(cu_alloc(&address, bytes));
    return (int *)(uintptr_t)address;
}

static inline void give_ints(int kind, int *memory)
{
    if (kind == HOST)
        free(memory);
    else
        CU(cu_free((uintptr_t)memory));
}

static inline void set_ints(void *device, int n, int first)
{
    int *host = malloc((size_t)n * sizeof *host);
    for (int i = 0; i < n; i++)
        host[i] = first + i;
    CU(cu_to_device((uintptr_t)device, host, (size_t)n * sizeof *host));
    free(host);
}

static inline void expect_ints(const void *device, int n, int first, const char *what)
{
    int *host = malloc((size_t)n * sizeof *host);
    CU(cu_to_host(host, (uintptr_t)device, (size_t)n * sizeof *host));
    for (int i = 0; i < n; i++)
        if (host[i] != first + i)
            FAIL("%s: element %d is %d, expected %d", what, i, host[i], first + i);
    free(host);
}

#endif
