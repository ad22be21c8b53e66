/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 8; long: 16; args: 200; long-args: 2000 */
/* MPI_Win_lock excludes: what a rank reads, changes and writes under an exclusive lock, no other
 * rank changes meanwhile. Shared holders see no half of a change. All ranks get their turns, with
 * more ranks than processors. The variants do so by messages and on memory of the program. */
#include "check.h"

#ifndef MAKE_WINDOW
#define MAKE_WINDOW(memory, bytes, win)                                                            \
    CHECK_OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win))
#endif

static void add_one(MPI_Win win, int target)
{
    long pair[2];
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    CHECK_OK(MPI_Get(pair, 2, MPI_LONG, target, 0, 2, MPI_LONG, win));
    CHECK_OK(MPI_Win_flush(target, win));
    CHECK(pair[0] == -pair[1]);
    pair[0]++;
    CHECK_OK(MPI_Put(pair, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_flush(target, win));
    pair[1]--;
    CHECK_OK(MPI_Put(&pair[1], 1, MPI_LONG, target, sizeof(long), 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_unlock(target, win));
}

static void look(MPI_Win win, int target)
{
    long pair[2];
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    CHECK_OK(MPI_Get(pair, 2, MPI_LONG, target, 0, 2, MPI_LONG, win));
    CHECK_OK(MPI_Win_unlock(target, win));
    CHECK(pair[0] == -pair[1]);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long *memory, rounds = argument(argc, argv, 200);
    MPI_Win win;
    MAKE_WINDOW(&memory, 2 * sizeof(long), &win);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    memory[0] = memory[1] = 0;
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < rounds; i++) {
        add_one(win, i % 4 ? 0 : size - 1);
        if (i % 3 == 0)
            look(win, 0);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    look(win, 0);
    if (rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        CHECK_INT(memory[0], size * (rounds - (rounds + 3) / 4));
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    CHECK_OK(MPI_Win_free(&win));
    return end();
}
