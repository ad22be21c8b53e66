/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets of all lengths between all ranks, many under way at a time, more than a provider takes at once; each byte is
 * checked where it must be. Prints how many of them the network did. An argument: rounds. With two arguments rank 1 is killed
 * while puts are under way. */
#include "counter.h"

#include <signal.h>

enum { LENGTHS = 7, PART = 1 << 20, BURST = 400, WORDS = BURST };
static const int lengths[LENGTHS] = {1, 8, 100, 4096, 16 * 1024, 100000, PART};

static MPI_Win win;
static unsigned char *memory, *mine, *got;

static unsigned char byte_of(int origin, int round, int i)
{
    return (unsigned char)(origin * 31 + round * 7 + i * 13 + i / 256);
}

/* Each rank has a part of PART bytes in the window of each other. */
static void fill_mine(int round)
{
    for (int i = 0; i < PART; i++)
        mine[i] = byte_of(rank, round, i);
}

static void check_part(const unsigned char *part, int origin, int round, int length)
{
    for (int i = 0; i < length; i++)
        if (part[i] != byte_of(origin, round, i))
            FAIL("round %d, %d bytes of rank %d: byte %d: got 0x%02x, expected 0x%02x", round, length, origin, i, part[i],
                 byte_of(origin, round, i));
}

/* Waits in one of the ways that there are. */
static void complete(int how, int target, int bytes, MPI_Request *request)
{
    if (how == 0)
        CHECK_OK(MPI_Win_flush(target, win));
    else if (how == 1)
        CHECK_OK(MPI_Win_flush_all(win));
    else {
        CHECK_OK(MPI_Rput(mine, bytes, MPI_BYTE, target, (MPI_Aint)rank * PART, bytes, MPI_BYTE, win, request));
        CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Win_flush(target, win));
    }
}

/* What was put and flushed is at the target, which looks at its own memory, and so is what is gotten from there. */
static void put_and_get(int round)
{
    MPI_Request request;
    int bytes = lengths[round % LENGTHS];
    fill_mine(round);
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int target = 0; target < size; target++) {
        CHECK_OK(MPI_Put(mine, bytes, MPI_BYTE, target, (MPI_Aint)rank * PART, bytes, MPI_BYTE, win));
        complete(round % 3, target, bytes, &request);
        memset(got, 0xee, (size_t)bytes);
        CHECK_OK(MPI_Rget(got, bytes, MPI_BYTE, target, (MPI_Aint)rank * PART, bytes, MPI_BYTE, win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_part(got, rank, round, bytes);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_sync(win));
    for (int origin = 0; origin < size; origin++)
        check_part(memory + (size_t)origin * PART, origin, round, bytes);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Many short ones at a time, to each target, in an epoch of MPI_Win_fence; buffers change after MPI_Win_flush_local. */
static void bursts(int round)
{
    static uint64_t words[WORDS];
    uint64_t *slots = (uint64_t *)memory;
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < BURST; i++)
        words[i] = (uint64_t)rank << 32 | (uint64_t)(round * BURST + i);
    for (int i = 0; i < BURST; i++)
        for (int target = 0; target < size; target++)
            CHECK_OK(MPI_Put(&words[i], 8, MPI_BYTE, target, (MPI_Aint)rank * PART + i * 8, 8, MPI_BYTE, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int origin = 0; origin < size; origin++)
        for (int i = 0; i < BURST; i++)
            if (slots[(size_t)origin * PART / 8 + (size_t)i] != ((uint64_t)origin << 32 | (uint64_t)(round * BURST + i)))
                FAIL("round %d: word %d of rank %d: got %llx", round, i, origin,
                     (unsigned long long)slots[(size_t)origin * PART / 8 + (size_t)i]);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    for (int i = 0; i < BURST; i++) {
        words[0] = (uint64_t)i;
        CHECK_OK(MPI_Put(words, 8, MPI_BYTE, (rank + 1) % size, (MPI_Aint)rank * PART + i * 8, 8, MPI_BYTE, win));
        CHECK_OK(i % 2 ? MPI_Win_flush_local_all(win) : MPI_Win_flush_local((rank + 1) % size, win));
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < BURST; i++)
        CHECK(slots[(size_t)((rank + size - 1) % size) * PART / 8 + (size_t)i] == (uint64_t)i);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void be_killed(void)
{
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; rank != 1 || i < 5; i++) {
        for (int target = 0; target < size; target++)
            CHECK_OK(MPI_Put(mine, PART, MPI_BYTE, target, (MPI_Aint)rank * PART, PART, MPI_BYTE, win));
        CHECK_OK(MPI_Win_flush_all(win));
    }
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    struct counter direct = counter_open("rma_direct_copies", MPI_THREAD_SINGLE);
    unsigned long long sum = 0, copies;
    int rounds = argument(argc, argv, 42);
    mine = allocate(PART);
    got = allocate(PART);
    CHECK_OK(MPI_Win_allocate((MPI_Aint)size * PART, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    if (argc > 2)
        be_killed();
    for (int round = 0; round < rounds; round++) {
        put_and_get(round);
        if (round % LENGTHS == 0)
            bursts(round);
    }
    CHECK_OK(MPI_Win_free(&win));
    copies = counter_read(&direct);
    CHECK_OK(MPI_Reduce(&copies, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0)
        printf("direct %llu\n", sum);
    counter_close(&direct);
    free(mine);
    free(got);
    return end();
}
