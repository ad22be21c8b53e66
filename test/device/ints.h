/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INTS_H
#define INTS_H

/* Arrays of ints on a device: first, first + 1, ... Include it behind check.h and fake_cuda.h. */

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
