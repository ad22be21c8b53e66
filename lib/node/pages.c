/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/node/pages.h"

#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

int tern_pages_allocate(int fd, uint64_t start, size_t size)
{
    int rc;
    do
        rc = fallocate(fd, 0, (off_t)start, (off_t)size);
    while (rc && errno == EINTR);
    return rc && errno != ENOSYS && errno != EOPNOTSUPP && errno != EPERM ? -errno : 0;
}

int tern_pages_reserve(int fd, uint64_t start, size_t size)
{
    int error = tern_pages_allocate(fd, start, size);
    return error ? tern_error(TERN_ERR_NO_MEM,
                              "no shared memory for %u ranks on this node (%zu bytes): %s; free "
                              "memory, or raise the limit of the container",
                              tern_rte.local_size, size, strerror(-error))
                 : 0;
}

bool tern_pages_give(int fd, uint64_t start, uint64_t size)
{
    int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    return fallocate(fd, mode, (off_t)start, (off_t)size) == 0;
}

/* Writes zeros over the pages that exist. */
static bool overwrite(int fd, uint64_t start, uint64_t size)
{
    static const char zeros[PAGE];
    off_t end = (off_t)(start + size), at = (off_t)start;
    while (at < end && (at = lseek(fd, at, SEEK_DATA)) >= 0 && at < end) {
        off_t hole = lseek(fd, at, SEEK_HOLE);
        for (hole = hole < 0 || hole > end ? end : hole; at < hole; at += PAGE)
            if (pwrite(fd, zeros, PAGE, at) != PAGE)
                return false;
    }
    return at >= 0 || errno == ENXIO;
}

void tern_pages_clean(int fd, uint64_t start, uint64_t size)
{
    if (!tern_pages_give(fd, start, size) && !overwrite(fd, start, size))
        tern_log("cannot clean the node's shared memory: %s", strerror(errno));
}
