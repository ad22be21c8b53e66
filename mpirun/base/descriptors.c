/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/base/descriptors.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* its number on all architectures but Alpha */
#endif

enum { CLOEXEC_FLAG = 1 << 2 }; /* the kernel's CLOSE_RANGE_CLOEXEC */

static void close_one_by_one(int first)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    int end = limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int fd = first; fd < end; fd++)
        close(fd);
}

void tern_descriptors_close(int first)
{
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) < 0)
        close_one_by_one(first);
}

void tern_descriptors_close_on_exec(int first)
{
    syscall(SYS_close_range, (unsigned)first, ~0u, (unsigned)CLOEXEC_FLAG);
}
