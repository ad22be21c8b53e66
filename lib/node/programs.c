/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rank's record counts its programs: the number of rank r becomes n when its program n begins.
 * From then on its program n - 1 can neither send nor receive. So a half that belongs to number n
 * is needed until every rank has reached a number above n. No other sign may free the half. Not
 * that all ranks have left, because they may come back, and others may not have begun at all. Not
 * that all rings look empty. The launcher writes TERN_NO_PROGRAM_MORE for a rank whose process has
 * ended.
 *
 * There are two halves, and number n takes half n modulo 2. So a rank can be one program ahead of
 * the slowest rank without waiting. Programs in the World Model never wait here: in MPI_Finalize
 * all ranks meet, so all have begun the program that ends.
 */

#include "lib/node/programs.h"

#include "lib/node/pages.h"
#include "lib/rte/rte.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/error.h"
#include "lib/util/net/launcher.h"
#include "lib/util/base/log.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    WAIT_US = 200,
    PATIENCE = 20 * 1000 * 1000 / WAIT_US,
    HALVES = TERN_NODE_HALVES
};

/* set in the owner of a half while a rank cleans the half */
static const uint32_t CLEANING = 1u << 31;

static struct tern_node_head *head;
static uint32_t number; /* of this process's program; 0: not begun */

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* Returns the bytes in front of the halves. */
static size_t head_bytes(void)
{
    return whole_pages(tern_wait_record_offset(tern_rte.local_size, tern_rte.local_size));
}

/* Returns the bytes of the head that every rank maps: those in front of the wait records. */
static size_t mapped_bytes(void)
{
    return whole_pages(tern_wait_record_offset(tern_rte.local_size, 0));
}

static struct tern_half half_at(int index, uint64_t file_size)
{
    uint64_t size = (file_size - head_bytes()) / HALVES & ~(uint64_t)(PAGE - 1);
    return (struct tern_half){head_bytes() + (uint64_t)index * size, size};
}

uint64_t tern_program_file_size(uint64_t half_size)
{
    return head_bytes() + HALVES * half_size;
}

static int map_head(int fd)
{
    if (head)
        return 0;
    int rc = tern_pages_reserve(fd, 0, mapped_bytes());
    if (rc)
        return rc;
    void *bytes = mmap(NULL, mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return tern_error(TERN_ERR_NO_MEM, "cannot map %zu bytes of the node's shared memory",
                          mapped_bytes());
    head = bytes;
    return 0;
}

static uint32_t number_of(uint32_t local_rank)
{
    /* acquire: sees everything that the rank's earlier programs have stored */
    return tern_load_acquire(&head->ranks[local_rank].number);
}

/* Returns the first local rank that has not reached a number above `passed`, or local_size. */
static uint32_t find_slower(uint32_t passed)
{
    uint32_t rank = 0;
    while (rank < tern_rte.local_size && number_of(rank) > passed)
        rank++;
    return rank;
}

/* ---- this rank's record ---- */

static struct tern_rank_record *own(void)
{
    return &head->ranks[tern_rte.local_rank];
}

static int in_use(int32_t pid)
{
    return tern_error(TERN_ERR_OTHER,
                      "rank %u of this job is process %d already. Either two programs run as this "
                      "rank at the same time (was PMIX_RANK changed?), or the first one ended "
                      "without MPI_Finalize",
                      tern_rte.rank, pid);
}

/* Checks the program before this one: if another rank called MPI_Init in it and this rank did not,
 * that rank would wait forever. Returns 0 or TERN_ERR_OTHER. */
static int check_world_before(uint32_t before)
{
    for (uint32_t rank = 0; rank < tern_rte.local_size; rank++)
        if (before && head->ranks[rank].world == before && own()->world != before)
            return tern_error(
                TERN_ERR_OTHER,
                "rank %u runs MPI program number %u, but rank %u called MPI_Init in program number "
                "%u, and this rank did not; all ranks of a job must run the same MPI programs in "
                "the same order",
                tern_rte.rank, before + 1, tern_rte.local_ranks[rank], before);
    return 0;
}

static int begin_program(void)
{
    struct tern_rank_record *record = own();
    uint32_t count = record->number;
    if (count == TERN_NO_PROGRAM_MORE)
        return tern_error(
            TERN_ERR_OTHER,
            "the launcher reports that rank %u of this job has ended; it cannot start another MPI "
            "program",
            tern_rte.rank);
    int32_t before = __atomic_load_n(&record->process, __ATOMIC_RELAXED);
    /* first of all: a program that has only just begun did not call MPI_Init yet */
    if (before > 0)
        return in_use(before);
    int rc = check_world_before(count);
    if (rc)
        return rc;
    do {
        if (before > 0)
            return in_use(before);
    } while (!__atomic_compare_exchange_n(&record->process, &before, getpid(), false,
                                          __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    number = count + 1;
    /* release: pairs with number_of */
    tern_store_release(&record->number, number);
    return 0;
}

void tern_program_leave(void)
{
    /* release: the next program in this rank's place sees everything that this one has stored */
    if (head && own()->process == getpid())
        __atomic_store_n(&own()->process, -getpid(), __ATOMIC_RELEASE);
}

int tern_program_return(void)
{
    int32_t left = -getpid();
    if (__atomic_compare_exchange_n(&own()->process, &left, getpid(), false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
        return 0;
    return in_use(left < 0 ? -left : left);
}

int tern_program_enter_world(void)
{
    if (!head)
        return 0;
    __atomic_store_n(&own()->world, number, __ATOMIC_RELAXED);
    for (uint32_t rank = 0; rank < tern_rte.local_size; rank++) {
        uint32_t theirs = number_of(rank);
        if (theirs > number &&
            theirs != TERN_NO_PROGRAM_MORE) /* the launcher reports ranks that have ended */
            return tern_error(TERN_ERR_OTHER,
                              "this is MPI program number %u of rank %u, but rank %u runs its "
                              "program number %u already; all ranks of a job must run the same MPI "
                              "programs in the same order",
                              number, tern_rte.rank, tern_rte.local_ranks[rank], theirs);
    }
    return 0;
}

/* ---- halves ---- */

/* Frees halves of earlier programs that no rank needs any more. */
static void clean_halves(int fd, uint64_t file_size)
{
    for (int i = 0; i < HALVES; i++) {
        uint32_t *owner = &head->owners[i], seen = __atomic_load_n(owner, __ATOMIC_RELAXED);
        if (seen == 0 || seen >= number || find_slower(seen) < tern_rte.local_size)
            continue;
        if (!__atomic_compare_exchange_n(owner, &seen, seen | CLEANING, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue; /* another rank cleans it */
        struct tern_half half = half_at(i, file_size);
        tern_pages_clean(fd, half.start, half.size);
        /* release: the next owner sees the half clean */
        __atomic_store_n(owner, 0, __ATOMIC_RELEASE);
    }
}

/* Tries to take a half. Returns true if it is this program's now. */
static bool try_half(int index)
{
    uint32_t nobody = 0, *owner = &head->owners[index];
    return __atomic_compare_exchange_n(owner, &nobody, number, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_ACQUIRE) ||
           nobody == number;
}

static void say_who_is_awaited(void)
{
    uint32_t slower = find_slower(number - HALVES);
    if (slower < tern_rte.local_size)
        tern_log("waiting for rank %u to start its MPI program number %u; this program is number "
                 "%u. All ranks of a job must run the same MPI programs",
                 tern_rte.local_ranks[slower], number - HALVES + 1, number);
}

int tern_program_find_half(int fd, uint64_t size, struct tern_half *ret_half)
{
    int rc = map_head(fd);
    if (!rc && !number)
        rc = begin_program();
    if (rc)
        return rc;
    int index = (int)(number % HALVES);
    clean_halves(fd, size);
    for (unsigned waits = 0; !try_half(index); waits++) {
        usleep(WAIT_US);
        clean_halves(fd, size);
        if (waits == PATIENCE)
            say_who_is_awaited();
    }
    *ret_half = half_at(index, size);
    return 0;
}
