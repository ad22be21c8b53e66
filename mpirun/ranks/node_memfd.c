/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/node_memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/net/launcher.h"
#include "lib/util/base/log.h"

int tern_memory_file(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    int error = errno;
    if (fd < 0 && (error == ENOSYS || error == EPERM)) /* a sandbox forbids memfd_create */
        fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    errno = error;
    return fd;
}

uint64_t tern_node_memory_size(int ranks)
{
    uint64_t page = 2 << 20;
    uint64_t size = tern_node_core_bytes((uint64_t)ranks) + TERN_NODE_ARENA_BYTES;
    return (TERN_NODE_HALVES * size + page - 1) / page * page;
}

/* Returns the least size that works: the head, and in each half a page for each rank and for each
 * pair of ranks, plus 2 MiB. */
static uint64_t least_size(int ranks)
{
    uint64_t n = ranks, head = tern_wait_record_offset((uint32_t)ranks, (uint32_t)ranks);
    return head + TERN_NODE_HALVES * ((n * n + n) * 4096 + (2 << 20));
}

int tern_node_memory_create(int ranks, const char *token, const void *roster, size_t length,
                            int *ret_fd, uint64_t *ret_size)
{
    uint64_t size = tern_node_memory_size(ranks);
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size + length)
        size = limit.rlim_cur < length ? 0 : (limit.rlim_cur - length) / 4096 * 4096;
    if (size < least_size(ranks))
        return tern_error(TERN_ERR_OTHER,
                          "%d ranks need a shared file of %llu KiB, but the limit of file sizes is "
                          "%llu KiB; raise it (ulimit -f)",
                          ranks, (unsigned long long)(least_size(ranks) + length) >> 10,
                          (unsigned long long)limit.rlim_cur >> 10);
    char head[64] = "TERNSHM1";
    memcpy(head + 8, token, 32);
    int fd = tern_memory_file("tern-node");
    if (fd < 0)
        return tern_error(TERN_ERR_OTHER, "memfd_create: %s", strerror(errno));
    if (ftruncate(fd, (off_t)(size + length)) < 0 ||
        pwrite(fd, head, sizeof head, 0) != sizeof head ||
        pwrite(fd, roster, length, (off_t)size) != (ssize_t)length) {
        close(fd);
        return tern_error(TERN_ERR_OTHER, "cannot make %llu bytes of shared memory: %s",
                          (unsigned long long)size, strerror(errno));
    }
    *ret_fd = fd;
    *ret_size = size;
    return 0;
}

void tern_node_memory_end_rank(int fd, int local_rank)
{
    uint32_t ended = TERN_NO_PROGRAM_MORE;
    off_t at = offsetof(struct tern_node_head, ranks[local_rank].number);
    if (pwrite(fd, &ended, sizeof ended, at) != sizeof ended)
        tern_log("cannot write to the ranks' shared memory: %s", strerror(errno));
}
