/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider strict (strict.h): which pages a registration has. A device goes on using the pages that it was given, also when
 * the program has other ones at the same addresses. Here vmsplice keeps the first and last bytes of the registered memory, by
 * their pages, in a pipe: bytes of the pipe that differ from those at the addresses show that the pages are others.
 */
#include "strict.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PART = 64, TRIES = 1000 };

static bool forked; /* after fork, a page that is written is copied, whoever has it in a pipe */
static int copies[2] = {-1, -1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note_fork(void)
{
    forked = true;
}

static __attribute__((constructor)) void start(void)
{
    pthread_atfork(note_fork, NULL, note_fork);
}

static size_t part_of(const struct strict_mr *mr)
{
    return mr->length < PART ? mr->length : PART;
}

void strict_pin(struct strict_mr *mr)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)mr->start & -page;
    size_t part = part_of(mr);
    struct iovec parts[] = {{mr->start, part}, {mr->start + mr->length - part, part}};
    mr->pins[0] = mr->pins[1] = -1;
    madvise((void *)first, (uintptr_t)mr->start + mr->length - first, MADV_POPULATE_WRITE);
    if (pipe2(mr->pins, O_CLOEXEC | O_NONBLOCK))
        return;
    if (vmsplice(mr->pins[1], parts, 2, SPLICE_F_NONBLOCK) != (ssize_t)(2 * part))
        strict_unpin(mr);
}

void strict_unpin(struct strict_mr *mr)
{
    if (mr->pins[0] < 0)
        return;
    close(mr->pins[0]);
    close(mr->pins[1]);
    mr->pins[0] = mr->pins[1] = -1;
}

/* True if the bytes of the pages are those at the addresses. */
static bool equal(struct strict_mr *mr)
{
    char kept[2 * PART];
    size_t part = part_of(mr);
    if (copies[0] < 0 && pipe2(copies, O_CLOEXEC | O_NONBLOCK))
        return true;
    if (tee(mr->pins[0], copies[1], 2 * part, SPLICE_F_NONBLOCK) != (ssize_t)(2 * part) ||
        read(copies[0], kept, 2 * part) != (ssize_t)(2 * part))
        strict_broken("strict itself cannot read the pages of a registration");
    return memcmp(kept, mr->start, part) == 0 && memcmp(kept + part, mr->start + mr->length - part, part) == 0;
}

void strict_check_pins(struct strict_mr *mr, const char *call)
{
    bool good = forked || mr->pins[0] < 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < TRIES && !good; i++) /* an earlier read may just be writing there */
        good = equal(mr);
    pthread_mutex_unlock(&lock);
    if (!good)
        strict_broken("%s: the memory of the registration has got other pages since it was registered", call);
}
