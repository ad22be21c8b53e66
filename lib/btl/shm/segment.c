/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/shm/segment.h"

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

enum { PAGE = 4096, LAUNCHER_BYTES = 64 };

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

/* fallocate until it is done or refused: signals interrupt it. */
static int reserve(uint64_t offset, size_t size)
{
    int rc;
    do
        rc = fallocate(tern_segment.fd, 0, offset, size);
    while (rc && errno == EINTR);
    return rc ? -errno : 0;
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

/* Under a launcher that gives no memory: a file in /dev/shm. Local rank 0 makes it with a fresh random name, so that
 * nothing left by others is ever opened; the others learn the name through PMIx. */
static int open_named_file(int *ret_fd, size_t *ret_size)
{
    char key[64], path[128] = "";
    snprintf(key, sizeof key, "tern.shm.%u", tern_rte.node);
    size_t size = ((size_t)1 << 30) + (size_t)tern_rte.local_size * tern_rte.local_size * 65536;
    int fd = -1;
    if (tern_rte.local_rank == 0) {
        uint64_t name[2];
        if (getrandom(name, sizeof name, 0) != sizeof name)
            return tern_error(TERN_ERR_OTHER, "no random numbers from the system: %s", strerror(errno));
        snprintf(path, sizeof path, "/dev/shm/tern-%016lx%016lx", (long)name[0], (long)name[1]);
        fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0 || ftruncate(fd, size)) {
            int rc = tern_error(TERN_ERR_NO_MEM, "cannot make the shared file %s: %s", path, strerror(errno));
            if (fd >= 0) {
                unlink(path);
                close(fd);
            }
            return rc;
        }
        int rc = tern_rte_put(key, path, strlen(path) + 1);
        if (rc)
            return rc;
    }
    int rc = tern_rte_fence(true);
    if (rc)
        return rc;
    if (fd < 0) {
        void *value;
        size_t length;
        rc = tern_rte_get(tern_rte.local_ranks[0], key, &value, &length);
        if (rc)
            return rc;
        snprintf(path, sizeof path, "%.*s", (int)length, (char *)value);
        free(value);
        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            return tern_error(TERN_ERR_OTHER, "cannot open the shared file %s that rank %u made: %s", path,
                              tern_rte.local_ranks[0], strerror(errno));
    }
    rc = tern_rte_fence(false);
    if (tern_rte.local_rank == 0)
        unlink(path);
    *ret_fd = fd;
    *ret_size = size;
    return rc;
}

static void publish_self(void)
{
    struct tern_segment_rank *self = tern_segment_rank(tern_segment.local_rank);
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        memcpy(self->cpus, &set, sizeof self->cpus);
    if (getrandom(&cookie, sizeof cookie, GRND_NONBLOCK) != sizeof cookie)
        cookie = 0; /* a zero cookie is never believed: no single copy then */
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* Yama: ranks of the job (same user) may read this process */
    self->pid = getpid();
    self->cookie_address = (uintptr_t)&cookie;
    self->cookie = cookie;
    /* release: whoever sees `attached` sees the rest */
    tern_store_release(&self->attached, 1);
    __atomic_fetch_add(&header()->attached, 1, __ATOMIC_RELAXED);
}

int tern_segment_attach(void)
{
    tern_segment.local_size = tern_rte.local_size;
    tern_segment.local_rank = tern_rte.local_rank;
    int fd = tern_rte.node_memory_fd;
    size_t size = tern_rte.node_memory_size;
    if (fd < 0) {
        int rc = open_named_file(&fd, &size);
        if (rc)
            return rc;
    }
    tern_segment.fd = fd;
    int error = reserve(0, header_bytes());
    if (error)
        return tern_error(TERN_ERR_NO_MEM, "no shared memory for %u ranks on this node (%zu bytes): %s; free some, or raise the limit of the container",
                          tern_rte.local_size, header_bytes(), strerror(-error));
    /* address space may be limited (ulimit -v): the rings that fit will do */
    void *base = MAP_FAILED;
    for (; base == MAP_FAILED && size >= header_bytes() + (1 << 20); size /= 2) {
        base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (base != MAP_FAILED)
            break;
    }
    if (base == MAP_FAILED)
        return tern_error(TERN_ERR_NO_MEM, "cannot map the node's shared memory: %s (limit of the address space: ulimit -v?)", strerror(errno));
    tern_segment.base = base;
    tern_segment.size = size;
    publish_self();
    return 0;
}

void tern_segment_detach(void)
{
    if (tern_segment.base)
        munmap(tern_segment.base, tern_segment.size);
    if (tern_segment.fd >= 0)
        close(tern_segment.fd);
    tern_segment = (struct tern_segment){.fd = -1};
}
