/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/node_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/util/error.h"

uint64_t tern_node_memory_size(int ranks)
{
    uint64_t n = ranks, page = 2 << 20;
    uint64_t size = (1ull << 30) + n * n * (64 << 10) + n * (4 << 20);
    return (size + page - 1) / page * page;
}

int tern_node_memory_create(int ranks, const char *token, int *ret_fd, uint64_t *ret_size)
{
    uint64_t size = tern_node_memory_size(ranks);
    char head[64] = "TERNSHM1";
    memcpy(head + 8, token, 32);
    int fd = memfd_create("tern-node", MFD_CLOEXEC);
    if (fd < 0)
        return tern_error(TERN_ERR_OTHER, "memfd_create: %s", strerror(errno));
    if (ftruncate(fd, (off_t)size) < 0 || pwrite(fd, head, sizeof head, 0) != sizeof head) {
        close(fd);
        return tern_error(TERN_ERR_OTHER, "cannot make %llu bytes of shared memory: %s",
                          (unsigned long long)size, strerror(errno));
    }
    *ret_fd = fd;
    *ret_size = size;
    return 0;
}
