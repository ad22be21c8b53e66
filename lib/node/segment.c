/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ranks come and go: a process may leave MPI and come back (sessions), and a rank may begin when
 * others have ended. So the memory's contents stay when ranks leave: packets in rings and posts on
 * boards wait for their receivers. The contents are dropped when no process of the same MPI program
 * can come any more (programs.c).
 */

#define _GNU_SOURCE
#include "lib/node/segment.h"

#include "lib/node/pages.h"
#include "lib/node/pieces.h"
#include "lib/node/programs.h"
#include "lib/node/share.h"
#include "lib/node/shared_block.h"
#include "lib/node/shared_lock.h"
#include "lib/rte/node_memory.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/net/launcher.h"
#include "lib/util/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, MAP_LEAST = 1 << 20, HUGE_PAGE = 2 << 20, STEP = 16 << 20 };

struct tern_segment tern_segment = {.fd = -1};

static uint64_t cookie;

struct tern_segment_rank *tern_segment_rank(uint32_t local_rank)
{
    return (struct tern_segment_rank *)(tern_segment.base + TERN_SEGMENT_RANKS_AT) + local_rank;
}

/* Reads a random word of the other process and compares it: in another pid namespace the number may
 * mean a stranger. */
static bool read_cookie(const struct tern_segment_rank *block)
{
    uint64_t word = 0;
    if (!tern_load_acquire(&block->attached) || !block->cookie)
        return false;
    struct iovec here = {&word, sizeof word};
    struct iovec there = {(void *)(uintptr_t)block->cookie_address, sizeof word};
    return process_vm_readv(block->pid, &here, 1, &there, 1, 0) == sizeof word &&
           word == block->cookie;
}

bool tern_segment_can_read(const struct tern_segment_rank *block)
{
    static int32_t *read; /* by local rank: the process whose memory was read */
    static uint32_t count;
    static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    ptrdiff_t local = block - tern_segment_rank(0);
    int32_t pid = block->pid; /* programs that a rank runs one after the other are several */
    pthread_mutex_lock(&gate);
    if (count != tern_segment.local_size) {
        free(read);
        read = calloc(tern_segment.local_size, sizeof *read);
        count = read ? tern_segment.local_size : 0;
    }
    bool can = count && pid && read[local] == pid;
    if (!can && (can = read_cookie(block)) && count)
        read[local] = pid;
    pthread_mutex_unlock(&gate);
    return can;
}

bool tern_segment_discard(uint64_t offset, size_t size)
{
    return tern_pages_give(tern_segment.fd, tern_segment.start + offset, size);
}

void tern_segment_detach(void)
{
    tern_shared_block_save();
    tern_program_leave();
    if (tern_segment.base)
        tern_shared_block_unmap(tern_segment.base, tern_segment.size);
    tern_segment.base = NULL;
}

static void publish_self(void)
{
    struct tern_segment_rank *self = tern_segment_rank(tern_segment.local_rank);
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        memcpy(self->cpus, &set, sizeof self->cpus);
    if (getrandom(&cookie, sizeof cookie, GRND_NONBLOCK) != sizeof cookie)
        cookie = 0; /* a cookie of 0 never counts: then there is no single copy */
    prctl(PR_SET_PTRACER,
          PR_SET_PTRACER_ANY); /* Yama: ranks of the job (same user) may read this process */
    if (!self->attached)
        tern_shared_lock_begin(&self->fill_lock);
    self->pid = getpid();
    self->mapped = tern_segment.size;
    self->cookie_address = (uintptr_t)&cookie;
    self->cookie = cookie;
    /* release: a rank that sees `attached` sees the rest */
    tern_store_release(&self->attached, 1);
}

int tern_segment_attend(void)
{
    static bool attended; /* the others make their memory only once */
    if (attended || tern_rte.size < 2 || tern_rte_gives_node_memory(tern_rte.job))
        return 0;
    attended = true;
    return tern_share_attend();
}

/* ---- addresses ---- */

/* Returns true if the number of addresses of this process is limited. */
static bool is_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* Finds the largest stretch of addresses where this process has nothing. */
static bool find_gap(uint64_t *ret_start, uint64_t *ret_end)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    uint64_t before = (uint64_t)1 << 32, start, end, largest = 0;
    while (maps && getline(&line, &room, maps) > 0) {
        /* the kernel's half of the addresses, which some processors show here, is none of ours */
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || start >> 63)
            break;
        if (start > before && start - before > largest) {
            largest = start - before;
            *ret_start = before;
            *ret_end = start;
        }
        before = end;
    }
    free(line);
    if (maps)
        fclose(maps);
    return largest > 0;
}

/* Tries out how many addresses are free, where tools (valgrind, sanitizers) give the process only
 * some of them. */
static bool try_gaps(size_t least, uint64_t *ret_start, uint64_t *ret_end)
{
    for (uint64_t bytes = (uint64_t)1 << 40; bytes >= least; bytes /= 2) {
        void *gap = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                         0);
        if (gap == MAP_FAILED)
            continue;
        munmap(gap, bytes);
        *ret_start = (uintptr_t)gap;
        *ret_end = *ret_start + bytes;
        return true;
    }
    return false;
}

static char *map_at(void *wanted, int fd, uint64_t start, size_t size)
{
    char *got = mmap(wanted, size, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, (off_t)start);
    if (got == wanted)
        return got;
    if (got != MAP_FAILED) /* a system that does not know MAP_FIXED_NOREPLACE */
        munmap(got, size);
    return NULL;
}

/* Maps the core into the middle of the largest gap. The system fills a gap from one of its ends, so
 * the arena behind the core can grow, and takes no addresses before it is used. Returns NULL if the
 * gaps are small, or if no more addresses are to be had. */
static char *map_in_gap(int fd, uint64_t start, size_t core, size_t *ret_room)
{
    for (int tries = 0; tries < 2; tries++) {
        uint64_t from, to;
        if (!(tries ? try_gaps(8 * core, &from, &to) : find_gap(&from, &to)) ||
            to - from < 8 * (uint64_t)core)
            continue;
        uint64_t middle = (from + (to - from) / 2 + HUGE_PAGE) & ~(uint64_t)(HUGE_PAGE - 1);
        char *base = map_at((void *)(uintptr_t)middle, fd, start, core);
        *ret_room = to - middle;
        if (base)
            return base;
    }
    return NULL;
}

/* Maps as much of the core as the limit of addresses permits (ulimit -v). */
static char *map_what_fits(int fd, uint64_t start, size_t core, size_t *ret_size)
{
    for (size_t size = core; size >= tern_segment_header_bytes() + MAP_LEAST; size /= 2) {
        size &= ~(size_t)(PAGE - 1);
        void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                          (off_t)start);
        *ret_size = size;
        if (base != MAP_FAILED)
            return base;
    }
    return NULL;
}

/* Keeps the memory out of core files: the system would allocate every page of it to write zeros. */
static void leave_out_of_cores(void *start, size_t size)
{
    madvise(start, size, MADV_DONTDUMP);
}

int tern_segment_open(int fd, struct tern_half half)
{
    uint64_t wanted = tern_node_core_bytes(tern_segment.local_size);
    size_t core = wanted < half.size ? wanted : half.size, room = 0;
    int rc = tern_pages_reserve(fd, half.start, tern_segment_header_bytes());
    if (rc)
        return rc;
    char *base = map_in_gap(fd, half.start, core, &room);
    if (!base) {
        base = map_what_fits(fd, half.start, core, &core);
        room = core;
    }
    if (!base)
        return tern_error(
            TERN_ERR_NO_MEM,
            "cannot map the node's shared memory: %s (is the address space limited? See ulimit -v)",
            strerror(errno));
    leave_out_of_cores(base, core);
    tern_segment.base = base;
    tern_segment.size = tern_segment.core = core;
    tern_segment.room = room < half.size ? room : half.size;
    tern_segment.limited = is_limited() || tern_segment.room < 2 * core;
    tern_segment.fd = fd;
    tern_segment.start = half.start;
    tern_segment_begin(half.size);
    publish_self();
    return 0;
}

bool tern_segment_reach(uint64_t end)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    if (TERN_LIKELY(end <= __atomic_load_n(&tern_segment.size, __ATOMIC_ACQUIRE)))
        return true;
    pthread_mutex_lock(&mutex);
    size_t from = tern_segment.size, to = (size_t)(end + STEP - 1) / STEP * STEP;
    to = to < tern_segment.room ? to : tern_segment.room;
    bool done = end <= from;
    if (!done && end <= to) {
        char *wanted = tern_segment.base + from;
        done = map_at(wanted, tern_segment.fd, tern_segment.start + from, to - from);
        if (done) {
            leave_out_of_cores(wanted, to - from);
            /* release: a thread that sees the size may use the memory, a rank that sees it too */
            __atomic_store_n(&tern_segment.size, to, __ATOMIC_RELEASE);
            __atomic_store_n(&tern_segment_rank(tern_segment.local_rank)->mapped, to,
                             __ATOMIC_RELEASE);
        }
    }
    pthread_mutex_unlock(&mutex);
    return done;
}

/* Finds the launcher's memory, or the memory that the ranks of the node have made on their first
 * call. */
static int find_memory(int *ret_fd, size_t *ret_size)
{
    static int shared_fd = -1;
    static size_t shared_size;
    *ret_fd = tern_rte.node_memory_fd;
    *ret_size = tern_rte.node_memory_size;
    if (*ret_fd >= 0)
        return 0;
    uint64_t least = tern_program_file_size(tern_segment_header_bytes() + MAP_LEAST);
    uint64_t wanted = tern_program_file_size(tern_node_core_bytes(tern_rte.local_size) +
                                             TERN_NODE_ARENA_BYTES);
    int rc = shared_fd >= 0 ? 0 : tern_share_memory(least, wanted, &shared_fd, &shared_size);
    *ret_fd = shared_fd;
    *ret_size = shared_size;
    return rc;
}

int tern_segment_attach(void)
{
    int fd;
    size_t size;
    struct tern_half half;
    tern_segment.local_size = tern_rte.local_size;
    tern_segment.local_rank = tern_rte.local_rank;
    int rc = find_memory(&fd, &size);
    if (!rc)
        rc = tern_program_find_half(fd, size, &half);
    return rc ? rc : tern_segment_open(fd, half);
}
