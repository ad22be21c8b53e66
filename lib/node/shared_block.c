/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs take large blocks of MPI_Alloc_mem for short and use a part of them (NWChem takes 40 MiB
 * for each task), so pages are not allocated ahead. A page that cannot be allocated when it is
 * touched is SIGBUS where the system counts all memory that it has promised
 * (vm.overcommit_memory=2), and in a file system with a limit. There such blocks are not taken.
 * Elsewhere it is what it is for private memory.
 *
 * Programs use memory of MPI_Alloc_mem after MPI_Finalize, too: they free it late, or never, and
 * print what is in it. The node's memory ends with MPI. So a block that is left then is copied to
 * private memory, which takes its place.
 */

#define _GNU_SOURCE
#include "lib/node/shared_block.h"

#include "lib/node/pieces.h"
#include "lib/node/segment.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct block {
    struct block *next;
    char *base;      /* what the program knows */
    char *start;     /* of the piece of memory that was taken */
    size_t bytes;    /* of the piece */
    size_t length;   /* from `base` on: pages that are in use */
    char *saved;     /* a private copy of these pages, until tern_shared_block_unmap; else NULL */
    bool is_private; /* no part of the node's memory any more */
};

static struct block *blocks; /* in no order */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static char *align(char *at, size_t alignment)
{
    return at + (-(uintptr_t)at & (alignment - 1));
}

/* Returns true if the system refuses to promise more memory than it has, or if the memory lies in a
 * file system with a limit (/dev/shm, where memfd_create is forbidden). */
static bool is_counted(void)
{
    static int mode = -1; /* all threads find the same */
    int found = __atomic_load_n(&mode, __ATOMIC_RELAXED);
    if (found < 0) {
        char text = '0';
        struct statfs limits;
        int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && read(fd, &text, 1) != 1)
            text = '0';
        if (fd >= 0)
            close(fd);
        found = text == '2' || fstatfs(tern_segment.fd, &limits) || limits.f_blocks;
        __atomic_store_n(&mode, found, __ATOMIC_RELAXED);
    }
    return found;
}

/* ---- small blocks, kept ---- */

/* Some blocks of one page keep their page when they are given back, because a system call for it
 * costs more than all else. */
enum { KEPT_MOST = 64 };
static struct block *kept;
static int kept_count;

static bool keep(struct block *block)
{
    if (block->bytes > PAGE)
        return false;
    pthread_mutex_lock(&mutex);
    bool keeps = kept_count < KEPT_MOST;
    if (keeps) {
        block->next = kept;
        kept = block;
        kept_count++;
    }
    pthread_mutex_unlock(&mutex);
    return keeps;
}

static struct block *take_kept(size_t size, size_t alignment, bool whole)
{
    if (size > PAGE || alignment > PAGE)
        return NULL;
    pthread_mutex_lock(&mutex);
    struct block *block = kept;
    if (block) {
        kept = block->next;
        kept_count--;
    }
    pthread_mutex_unlock(&mutex);
    if (block && whole)
        memset(block->base, 0, PAGE);
    return block;
}

/* Gives up what is kept, because the node's memory ends. */
static void forget_kept(void)
{
    for (struct block *block; (block = kept);) {
        kept = block->next;
        tern_segment_unclaim((uint64_t)(block->start - tern_segment.base), block->bytes);
        free(block);
    }
    kept_count = 0;
}

/* ---- taking and giving ---- */

/* Returns true if no program could use so much: malloc decides what becomes of it. */
static bool is_too_much(size_t size)
{
    static uint64_t most; /* all threads find the same */
    uint64_t found = __atomic_load_n(&most, __ATOMIC_RELAXED);
    if (!found) {
        struct sysinfo info;
        found = UINT64_MAX;
        if (sysinfo(&info) == 0)
            found = (info.totalram + info.totalswap) * info.mem_unit;
        __atomic_store_n(&most, found, __ATOMIC_RELAXED);
    }
    return size > found;
}

/* Takes addresses for a block. Returns false if there are none. */
static bool claim_block(struct block *block, size_t size, size_t alignment)
{
    uint64_t offset;
    block->length = (size + PAGE - 1) / PAGE * PAGE;
    block->length += block->length ? 0 : PAGE;
    block->bytes = block->length + (alignment > PAGE ? alignment - PAGE : 0);
    if (block->bytes < size || tern_segment_claim(block->bytes, false, &offset))
        return false;
    block->start = tern_segment.base + offset;
    block->base = align(block->start, alignment);
    return true;
}

static uint64_t offset_of(const char *address)
{
    return (uint64_t)(address - tern_segment.base);
}

static void add_block(struct block *block)
{
    pthread_mutex_lock(&mutex);
    block->next = blocks;
    blocks = block;
    pthread_mutex_unlock(&mutex);
}

int tern_shared_block_take(size_t size, size_t alignment, bool whole, void **ret_base)
{
    if (!tern_segment.base || tern_segment.local_size < 2 ||
        (!whole && (is_counted() || is_too_much(size))))
        return TERN_ERR_UNSUPPORTED;
    struct block *block = take_kept(size, alignment, whole);
    int rc = 0;
    if (!block) {
        block = calloc(1, sizeof *block);
        if (!block || !claim_block(block, size, alignment)) {
            free(block);
            return TERN_ERR_UNSUPPORTED;
        }
        if (whole && (rc = tern_segment_fill(offset_of(block->base), block->length))) {
            tern_segment_unclaim(offset_of(block->start), block->bytes);
            free(block);
            return rc;
        }
    }
    add_block(block);
    *ret_base = block->base;
    return 0;
}

/* Takes a block out of the list. Returns NULL if none begins at `base`. */
static struct block *remove_block(const void *base)
{
    pthread_mutex_lock(&mutex);
    struct block **at = &blocks, *block;
    while (*at && (*at)->base != base)
        at = &(*at)->next;
    block = *at;
    if (block)
        *at = block->next;
    pthread_mutex_unlock(&mutex);
    return block;
}

bool tern_shared_block_give(void *base)
{
    struct block *block = remove_block(base);
    if (!block)
        return false;
    if (!block->is_private && keep(block))
        return true;
    if (block->is_private)
        munmap(block->base, block->length);
    else
        tern_segment_unclaim(offset_of(block->start), block->bytes);
    free(block);
    return true;
}

/* Copies the pages that exist. Reading the others would make them. */
static void copy_pages(const struct block *block, char *to)
{
    off_t start = (off_t)(tern_segment.start + (uint64_t)(block->base - tern_segment.base));
    off_t end = start + (off_t)block->length, at = start;
    while (at < end) {
        off_t data = lseek(tern_segment.fd, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO)
            return; /* nothing but holes */
        off_t hole = data < 0 ? end : lseek(tern_segment.fd, data, SEEK_HOLE);
        data = data < 0 ? at : data; /* the system does not tell: copy all */
        if (data >= end)
            return;
        hole = hole < data || hole > end ? end : hole;
        memcpy(to + (data - start), block->base + (data - start), (size_t)(hole - data));
        at = hole;
    }
}

void tern_shared_block_save(void)
{
    pthread_mutex_lock(&mutex);
    forget_kept();
    for (struct block *block = blocks; block; block = block->next) {
        if (block->is_private)
            continue;
        void *copy = mmap(NULL, block->length, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy != MAP_FAILED) {
            copy_pages(block, copy);
            block->saved = copy;
            continue;
        }
        tern_log("no memory to keep the %zu bytes at %p after the end of MPI: call MPI_Free_mem "
                 "before", block->length, (void *)block->base);
    }
    pthread_mutex_unlock(&mutex);
}

/* Returns the first saved block from `at` on, or NULL. */
static struct block *first_saved(const char *at)
{
    struct block *first = NULL;
    for (struct block *block = blocks; block; block = block->next)
        if (block->saved && block->base >= at && (!first || block->base < first->base))
            first = block;
    return first;
}

void tern_shared_block_unmap(void *base, size_t size)
{
    char *at = base, *end = at + size;
    pthread_mutex_lock(&mutex);
    for (struct block *block; (block = first_saved(at));) {
        /* takes the place of the pages there, so no other thread can map memory in between */
        mremap(block->saved, block->length, block->length, MREMAP_MAYMOVE | MREMAP_FIXED,
               block->base);
        if (block->base > at)
            munmap(at, (size_t)(block->base - at));
        at = block->base + block->length;
        block->saved = NULL;
        block->is_private = true;
    }
    if (end > at)
        munmap(at, (size_t)(end - at));
    for (struct block **link = &blocks; *link;) {
        struct block *block = *link;
        if (block->is_private) {
            link = &block->next;
        } else { /* there was no memory for a copy */
            *link = block->next;
            free(block);
        }
    }
    pthread_mutex_unlock(&mutex);
}
