/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ranks come and go: a process may leave MPI and come back (sessions), and a rank may begin when
 * others have ended. So the memory's contents stay when ranks leave: packets in rings and posts on
 * boards wait for their receivers. The contents are dropped when no process of the same MPI program
 * can come any more (programs.c).
 */

#include "lib/node/segment.h"

#include "lib/node/shared_block.h"
#include "lib/node/programs.h"
#include "lib/node/share.h"
#include "lib/rte/node_memory.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

enum { GIVEN_SIZES = 24, KEPT_SIZES = 6, PAGE = 4096, MAP_LEAST = 1 << 20 };

struct shared_header {
    uint64_t used; /* bytes handed out behind the blocks */
    /* Memory given back, by size (2^i pages): offset of the piece given back last. The first word
     * of each piece leads to the next. */
    uint64_t given[GIVEN_SIZES];
    /* Likewise, small pieces that were taken, all of whose pages stay: communicators and windows
     * come and go, and a system call for their pages costs more than all else. */
    uint64_t kept[KEPT_SIZES];
    uint32_t given_lock; /* guards both */
    /* List of the memory by name for which not all users have asked yet. */
    uint32_t meeting_lock;
    uint64_t meetings;
    /* nonzero: there was no memory even to record a refusal; nothing new is made from then on */
    uint32_t no_more;
};

/* Stands in front of memory that was taken by name. */
struct meeting {
    uint64_t next; /* offset of the next; 0: none */
    struct tern_segment_name name;
    uint64_t size; /* bytes, this header included */
    uint32_t missing; /* number of users that have not asked yet */
    /* nonzero: there was no memory; only this header exists, to give all users that answer */
    uint32_t refused;
} __attribute__((aligned(TERN_CACHE_LINE)));

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

/* Allocates pages, again after each signal, until that succeeds or is refused. If a sandbox does
 * not know fallocate, the system allocates pages when they are touched. Returns 0 or a negative
 * errno. */
static int reserve(int fd, uint64_t start, size_t size)
{
    int rc;
    do
        rc = fallocate(fd, 0, (off_t)start, (off_t)size);
    while (rc && errno == EINTR);
    return rc && errno != ENOSYS && errno != EOPNOTSUPP && errno != EPERM ? -errno : 0;
}

int tern_segment_reserve(int fd, uint64_t start, size_t size)
{
    int error = reserve(fd, start, size);
    return error ? tern_error(TERN_ERR_NO_MEM,
                              "no shared memory for %u ranks on this node (%zu bytes): %s; free "
                              "memory, or raise the limit of the container",
                              tern_rte.local_size, size, strerror(-error))
                 : 0;
}

/* Takes address space behind all that was taken before, and allocates the first `filled` bytes. */
static int extend(size_t size, size_t filled, uint64_t *ret_offset)
{
    uint64_t used = __atomic_load_n(&header()->used, __ATOMIC_RELAXED), offset;
    do { /* a request that is refused takes nothing, so smaller requests may still succeed */
        offset = header_bytes() + used;
        if (offset + size > tern_segment.size)
            return TERN_ERR_NO_MEM;
    } while (!__atomic_compare_exchange_n(&header()->used, &used, used + size, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    if (reserve(tern_segment.fd, tern_segment.start + offset, filled))
        return TERN_ERR_NO_MEM;
    *ret_offset = offset;
    return 0;
}

int tern_segment_allocate(size_t size, uint64_t *ret_offset)
{
    return extend(size, size, ret_offset);
}

static int size_class(size_t size)
{
    int class = 0;
    while ((size_t)PAGE << class < size)
        class++;
    return class;
}

/* Takes a lock shared between processes. What the last owner has written is visible afterwards. */
static void take_lock(uint32_t *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void leave_lock(uint32_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* Takes a piece out of a list. Returns its offset, or 0 if the list is empty. */
static uint64_t pop(uint64_t *list)
{
    take_lock(&header()->given_lock);
    uint64_t offset = *list;
    if (offset)
        *list = *(uint64_t *)(tern_segment.base + offset);
    leave_lock(&header()->given_lock);
    if (offset)
        *(uint64_t *)(tern_segment.base + offset) = 0;
    return offset;
}

static void push(uint64_t *list, uint64_t offset)
{
    take_lock(&header()->given_lock);
    *(uint64_t *)(tern_segment.base + offset) = *list;
    *list = offset;
    leave_lock(&header()->given_lock);
}

int tern_segment_claim(size_t size, uint64_t *ret_offset)
{
    int class = size_class(size);
    if (class >= GIVEN_SIZES)
        return TERN_ERR_NO_MEM;
    uint64_t offset = pop(&header()->given[class]);
    if (!offset)
        return extend((size_t)PAGE << class, PAGE, ret_offset);
    *ret_offset = offset;
    return 0;
}

int tern_segment_fill(uint64_t offset, size_t size)
{
    return reserve(tern_segment.fd, tern_segment.start + offset, size) ? TERN_ERR_NO_MEM : 0;
}

/* Takes a piece whose pages are not allocated, and allocates them. */
static int take_new(size_t size, uint64_t *ret_offset)
{
    if (tern_segment_claim(size, ret_offset))
        return TERN_ERR_NO_MEM;
    if (tern_segment_fill(*ret_offset, (size_t)PAGE << size_class(size)) == 0)
        return 0;
    tern_segment_unclaim(*ret_offset, size);
    return TERN_ERR_NO_MEM;
}

/* Gives back the pages of all kept pieces. Returns false if there are none. */
static bool let_go(void)
{
    bool any = false;
    for (int class = 0; class < KEPT_SIZES; class++)
        for (uint64_t offset; (offset = pop(&header()->kept[class])); any = true)
            tern_segment_unclaim(offset, (size_t)PAGE << class);
    return any;
}

int tern_segment_take(size_t size, uint64_t *ret_offset)
{
    int class = size_class(size);
    uint64_t offset = class < KEPT_SIZES ? pop(&header()->kept[class]) : 0;
    if (!offset && take_new(size, &offset) && (!let_go() || take_new(size, &offset)))
        return TERN_ERR_NO_MEM;
    *ret_offset = offset;
    return 0;
}

void tern_segment_give(uint64_t offset, size_t size)
{
    int class = size_class(size);
    if (class >= KEPT_SIZES) {
        tern_segment_unclaim(offset, size);
        return;
    }
    memset(tern_segment.base + offset, 0, (size_t)PAGE << class);
    push(&header()->kept[class], offset);
}

/* The first page stays, because it links the piece into the list. */
void tern_segment_unclaim(uint64_t offset, size_t size)
{
    int class = size_class(size);
    size_t bytes = (size_t)PAGE << class;
    if (bytes > PAGE)
        tern_segment_discard(offset + PAGE, bytes - PAGE);
    memset(tern_segment.base + offset, 0, PAGE);
    push(&header()->given[class], offset);
}

static struct meeting *meeting_at(uint64_t offset)
{
    return (struct meeting *)(tern_segment.base + offset);
}

static bool same_name(const struct tern_segment_name *a, const struct tern_segment_name *b)
{
    return a->context == b->context && a->leader == b->leader && a->serial == b->serial;
}

/* Makes memory by name for the first user. If there is none, records a refusal: the other users
 * must get the same answer, even if memory is given back meanwhile. Returns the offset, or 0 if
 * there is no memory even for the refusal. */
static uint64_t begin_meeting(const struct tern_segment_name *name, uint32_t users, size_t size)
{
    uint64_t offset = 0;
    bool refused = tern_segment_take(size, &offset);
    if (refused && tern_segment_take(PAGE, &offset)) {
        header()->no_more = 1;
        return 0;
    }
    *meeting_at(offset) = (struct meeting){
        .next = header()->meetings,
        .name = *name,
        .size = refused ? PAGE : size,
        .missing = users,
        .refused = refused,
    };
    return header()->meetings = offset;
}

int tern_segment_meet(const struct tern_segment_name *name, uint32_t users, size_t size,
                      uint64_t *ret_offset)
{
    if (!tern_segment.base)
        return TERN_ERR_NO_MEM;
    take_lock(&header()->meeting_lock);
    /* another rank may have taken memory that we gave back, for a meeting */
    tern_comes_after(&header()->given_lock);
    uint64_t *at = &header()->meetings;
    while (*at && !same_name(&meeting_at(*at)->name, name))
        at = &meeting_at(*at)->next;
    uint64_t offset = *at;
    if (!offset && !header()->no_more) {
        offset = begin_meeting(name, users, size + sizeof(struct meeting));
        at = &header()->meetings;
    }
    bool refused = !offset || meeting_at(offset)->refused;
    if (offset && --meeting_at(offset)->missing == 0) {
        *at = meeting_at(offset)->next;
        if (refused)
            tern_segment_give(offset, PAGE);
    }
    leave_lock(&header()->meeting_lock);
    if (refused)
        return TERN_ERR_NO_MEM;
    *ret_offset = offset + sizeof(struct meeting);
    return 0;
}

void tern_segment_part(uint64_t offset)
{
    offset -= sizeof(struct meeting);
    tern_segment_give(offset, meeting_at(offset)->size);
}

size_t tern_segment_used(void)
{
    if (!tern_segment.base)
        return 0;
    return header_bytes() + __atomic_load_n(&header()->used, __ATOMIC_RELAXED);
}

static int punch(int fd, uint64_t start, size_t size)
{
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)start, (off_t)size);
}

void tern_segment_discard(uint64_t offset, size_t size)
{
    punch(tern_segment.fd, tern_segment.start + offset, size);
}

/* If the system cannot take the pages back, the next programs' rings are placed behind the old
 * ones. */
void tern_segment_clean(int fd, struct tern_half half)
{
    static const char zeros[PAGE];
    uint64_t used = 0, at = half.start + offsetof(struct shared_header, used);
    if (punch(fd, half.start, half.size) == 0)
        return;
    bool done = pread(fd, &used, sizeof used, (off_t)at) == sizeof used;
    for (size_t page = 0; page < header_bytes(); page += PAGE)
        done &= pwrite(fd, zeros, PAGE, (off_t)(half.start + page)) == PAGE;
    if (!done || pwrite(fd, &used, sizeof used, (off_t)at) != sizeof used)
        tern_log("cannot clean the node's shared memory: %s", strerror(errno));
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
    self->pid = getpid();
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
    int rc = shared_fd >= 0 ? 0
                            : tern_share_memory(tern_program_file_size(header_bytes() + MAP_LEAST),
                                                &shared_fd, &shared_size);
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
    if (!rc)
        rc = tern_segment_reserve(fd, half.start, header_bytes());
    if (rc)
        return rc;
    /* address space may be limited (ulimit -v): map as much as fits */
    void *base = MAP_FAILED;
    for (size = half.size; base == MAP_FAILED && size >= header_bytes() + MAP_LEAST; size /= 2) {
        base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                    (off_t)half.start);
        if (base != MAP_FAILED)
            break;
    }
    if (base == MAP_FAILED)
        return tern_error(
            TERN_ERR_NO_MEM,
            "cannot map the node's shared memory: %s (is the address space limited? See ulimit -v)",
            strerror(errno));
    tern_segment.base = base;
    tern_segment.size = size;
    tern_segment.fd = fd;
    tern_segment.start = half.start;
    publish_self();
    return 0;
}
