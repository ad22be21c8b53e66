/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 8; long: 16; args: 300; long-args: 10000 */
/* A counter in rank 0's window: MPI_Fetch_and_op by all ranks at a time gives each value to one
 * call, and so does a loop of MPI_Compare_and_swap. Values that pass through no atomic instruction
 * (pairs, complex numbers, odd addresses) are changed as wholes, too. win_counter_asked.c and its
 * kin do so by the other mechanisms. */
#include "check.h"

static MPI_Win win;

static int64_t next_by_fetch(void)
{
    int64_t one = 1, before = -1;
    CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, win));
    CHECK_OK(MPI_Win_flush(0, win));
    return before;
}

static int64_t next_by_swap(void)
{
    int64_t seen, expected, wanted;
    CHECK_OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, 0, 8, MPI_NO_OP, win));
    CHECK_OK(MPI_Win_flush(0, win));
    do {
        expected = seen;
        wanted = expected + 1;
        CHECK_OK(MPI_Compare_and_swap(&wanted, &expected, &seen, MPI_INT64_T, 0, 8, win));
        CHECK_OK(MPI_Win_flush(0, win));
    } while (seen != expected);
    return seen;
}

/* Each rank gets growing numbers; together they are 0, 1, 2, ... */
static void check_numbers(int64_t (*next)(void), int rounds)
{
    int64_t *mine = allocate((size_t)rounds * sizeof *mine), *all = NULL;
    char *seen = allocate((size_t)rounds * size);
    for (int i = 0; i < rounds; i++) {
        mine[i] = next();
        CHECK(i == 0 || mine[i] > mine[i - 1]);
    }
    if (rank == 0)
        all = allocate((size_t)rounds * size * sizeof *all);
    CHECK_OK(MPI_Gather(mine, rounds, MPI_INT64_T, all, rounds, MPI_INT64_T, 0, MPI_COMM_WORLD));
    for (int i = 0; rank == 0 && i < rounds * size; i++) {
        CHECK(all[i] >= 0 && all[i] < rounds * size && !seen[all[i]]);
        seen[all[i]] = 1;
    }
    free(all);
    free(mine);
    free(seen);
}

/* All add to elements of other sizes; their halves always belong together. */
static void check_wholes(int rounds)
{
    double complex_one[2] = {1, -1}, before[2];
    int64_t odd = 1;
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(MPI_Get_accumulate(complex_one, 1, MPI_C_DOUBLE_COMPLEX, before, 1,
                                    MPI_C_DOUBLE_COMPLEX, 0, 16, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM,
                                    win));
        CHECK_OK(MPI_Accumulate(&odd, 1, MPI_INT64_T, 0, 33, 1, MPI_INT64_T, MPI_SUM, win));
        CHECK_OK(MPI_Win_flush(0, win));
        CHECK(before[0] == -before[1]);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    char *memory;
    int rounds = argument(argc, argv, 300);
    CHECK_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    memset(memory, 0, 64);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    check_numbers(next_by_fetch, rounds);
    check_numbers(next_by_swap, rounds);
    check_wholes(rounds);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_fence(0, win));
    if (rank == 0) {
        double sum[2];
        int64_t odd;
        memcpy(sum, memory + 16, sizeof sum);
        memcpy(&odd, memory + 33, sizeof odd);
        CHECK_INT(sum[0], (long long)rounds * size);
        CHECK_INT(odd, (long long)rounds * size);
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_OK(MPI_Win_free(&win));
    return end();
}
