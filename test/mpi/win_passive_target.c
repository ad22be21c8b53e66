/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; env: OMPI_MCA_btl=tcp,self */
/* A target that makes no MPI call for as long as it likes answers: it waits, without MPI, until the
 * others have locked its window, read, written, added and unlocked. */
#include "check.h"

#include <time.h>

enum { PATIENCE_S = 60, LARGE = 1 << 18 };

/* Without MPI: until the word has come. */
__attribute__((no_sanitize("thread")))
static void await_word(const volatile long *word, long value)
{
    time_t end = time(NULL) + PATIENCE_S;
    while (*word != value) {
        CHECK(time(NULL) < end);
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
}

static void visit(MPI_Win win, int target)
{
    long one = 1, found, *many = allocate(LARGE * sizeof *many);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    CHECK_OK(MPI_Get(many, LARGE, MPI_LONG, target, 8, LARGE, MPI_LONG, win));
    CHECK_OK(MPI_Win_flush(target, win));
    for (int i = 0; i < LARGE; i++)
        many[i]++;
    CHECK_OK(MPI_Put(many, LARGE, MPI_LONG, target, 8, LARGE, MPI_LONG, win));
    CHECK_OK(MPI_Win_unlock(target, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    CHECK_OK(MPI_Fetch_and_op(&one, &found, MPI_LONG, target, 0, MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock(target, win));
    CHECK(found >= 0 && found < size - 1);
    free(many);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long *memory;
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate((LARGE + 8) * sizeof(long), sizeof(long), MPI_INFO_NULL,
                              MPI_COMM_WORLD, &memory, &win));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Win_fence(0, win));
        memset(memory, 0, (LARGE + 8) * sizeof(long));
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        if (rank == 0)
            await_word(memory, size - 1);
        else
            visit(win, 0);
        CHECK_OK(MPI_Win_fence(0, win));
        for (int i = 0; rank == 0 && i < LARGE; i++)
            CHECK_INT(memory[8 + i], size - 1);
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_OK(MPI_Win_free(&win));
    return end();
}
