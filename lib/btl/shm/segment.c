/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/shm/segment.h"

#include "lib/btl/shm/share.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, LAUNCHER_BYTES = 64, MAP_LEAST = 1 << 20 };

struct shared_header {
    char launcher[LAUNCHER_BYTES];
    uint64_t used;     /* bytes handed out behind the blocks */
    uint32_t attached; /* ranks that have mapped it */
};

struct tern_segment tern_segment = {.fd = -1};

static uint64_t cookie;

static struct shared_header *header(void)
{
    return (struct shared_header *)tern_segment.base;
}

static size_t header_bytes(void)
{
    size_t bytes = PAGE + tern_segment.local_size * sizeof(struct tern_segment_rank);
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

struct tern_segment_rank *tern_segment_rank(uint32_t local_rank)
{
    return (struct tern_segment_rank *)(tern_segment.base + PAGE) + local_rank;
}

uint32_t tern_segment_attached(void)
{
    return __atomic_load_n(&header()->attached, __ATOMIC_RELAXED);
}

/* fallocate until it is done or refused: signals interrupt it. Where a sandbox does not know it,
 * pages come when they are touched. */
static int reserve(uint64_t offset, size_t size)
{
    int rc;
    do
        rc = fallocate(tern_segment.fd, 0, offset, size);
    while (rc && errno == EINTR);
    return rc && errno != ENOSYS && errno != EOPNOTSUPP && errno != EPERM ? -errno : 0;
}

int tern_segment_allocate(size_t size, uint64_t *ret_offset)
{
    uint64_t offset = header_bytes() + __atomic_fetch_add(&header()->used, size, __ATOMIC_RELAXED);
    if (offset + size > tern_segment.size || reserve(offset, size))
        return TERN_ERR_NO_MEM;
    *ret_offset = offset;
    return 0;
}

void tern_segment_discard(uint64_t offset, size_t size)
{
    fallocate(tern_segment.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size);
}

static int publish_self(void)
{
    struct tern_segment_rank *self = tern_segment_rank(tern_segment.local_rank);
    cpu_set_t set;
    int32_t nobody = 0;
    if (!__atomic_compare_exchange_n(&self->pid, &nobody, getpid(), false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return tern_error(TERN_ERR_OTHER,
                          "rank %u of this job is process %d already: two programs run in its "
                          "place at once (or PMIX_RANK was "
                          "changed), or the first of them ended without MPI_Finalize",
                          tern_rte.rank, nobody);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        memcpy(self->cpus, &set, sizeof self->cpus);
    if (getrandom(&cookie, sizeof cookie, GRND_NONBLOCK) != sizeof cookie)
        cookie = 0; /* a zero cookie is never believed: no single copy then */
    prctl(PR_SET_PTRACER,
          PR_SET_PTRACER_ANY); /* Yama: ranks of the job (same user) may read this process */
    self->cookie_address = (uintptr_t)&cookie;
    self->cookie = cookie;
    /* release: whoever sees `attached` sees the rest */
    tern_store_release(&self->attached, 1);
    __atomic_fetch_add(&header()->attached, 1, __ATOMIC_RELAXED);
    return 0;
}

int tern_segment_attach(void)
{
    tern_segment.local_size = tern_rte.local_size;
    tern_segment.local_rank = tern_rte.local_rank;
    int fd = tern_rte.node_memory_fd;
    size_t size = tern_rte.node_memory_size;
    if (fd < 0) {
        int rc = tern_share_memory(header_bytes() + MAP_LEAST, &fd, &size);
        if (rc)
            return rc;
    }
    tern_segment.fd = fd;
    int error = reserve(0, header_bytes());
    if (error)
        return tern_error(TERN_ERR_NO_MEM,
                          "no shared memory for %u ranks on this node (%zu bytes): %s; free some, "
                          "or raise the limit of the container",
                          tern_rte.local_size, header_bytes(), strerror(-error));
    /* address space may be limited (ulimit -v): the rings that fit will do */
    void *base = MAP_FAILED;
    for (; base == MAP_FAILED && size >= header_bytes() + MAP_LEAST; size /= 2) {
        base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (base != MAP_FAILED)
            break;
    }
    if (base == MAP_FAILED)
        return tern_error(
            TERN_ERR_NO_MEM,
            "cannot map the node's shared memory: %s (limit of the address space: ulimit -v?)",
            strerror(errno));
    tern_segment.base = base;
    tern_segment.size = size;
    return publish_self();
}

/* The last one leaves the memory as the launcher gave it: the ranks may be scripts that run one
 * program after another. All of the node have attached by now, and the next program attaches after
 * the fence that ends this one. */
static void leave_clean(void)
{
    struct stat st;
    uint64_t first = header_bytes(), used = header()->used;
    if (fstat(tern_segment.fd, &st) == 0 &&
        fallocate(tern_segment.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, first,
                  st.st_size - first) == 0)
        used = 0; /* else the next rings lie behind these */
    memset(tern_segment.base + LAUNCHER_BYTES, 0, first - LAUNCHER_BYTES);
    header()->used = used;
}

void tern_segment_detach(void)
{
    /* both orders: the last one sees what all others have done */
    if (tern_segment.base && __atomic_sub_fetch(&header()->attached, 1, __ATOMIC_ACQ_REL) == 0)
        leave_clean();
    if (tern_segment.base)
        munmap(tern_segment.base, tern_segment.size);
    if (tern_segment.fd >= 0)
        close(tern_segment.fd);
    tern_segment = (struct tern_segment){.fd = -1};
}
