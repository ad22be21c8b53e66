/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 8 64; args: 5000; long-args: 20000 */
/* Many more ranks than processors want one exclusive lock again and again. Once each of them has
 * had it, turns count, until they are args for each on average. Nobody may be left out meanwhile:
 * each gets its share, less what the system takes from it. */
#include "check.h"

#include <sched.h>

/* Returns 1 if this rank had a turn that counts, 0 if not, -1 if all turns are over. */
static int take_turn(MPI_Win win, int64_t turns, int is_first)
{
    int64_t state[2]; /* ranks that have begun, turns since all have */
    int counts, over;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    CHECK_OK(MPI_Get(state, 2, MPI_INT64_T, 0, 0, 2, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_flush(0, win));
    state[0] += is_first;
    over = state[1] == turns;
    counts = state[0] == size && !over;
    state[1] += counts;
    CHECK_OK(MPI_Put(state, 2, MPI_INT64_T, 0, 0, 2, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    sched_yield(); /* with fewer processors, all others have come back before this rank does */
    return over ? -1 : counts;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int64_t *memory, each = argument(argc, argv, 5000), mine = 0, least, sum;
    int turn, is_first = 1;
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate(2 * sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    memory[0] = memory[1] = 0;
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (; (turn = take_turn(win, each * size, is_first)) >= 0; is_first = 0)
        mine += turn;
    CHECK_OK(MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, each * size);
    if (rank == 0 && least < each / 10)
        FAIL("of %lld turns for each on average, one rank got only %lld", (long long)each,
             (long long)least);
    CHECK_OK(MPI_Win_free(&win));
    return end();
}
