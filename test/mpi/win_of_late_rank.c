/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 */
/* A rank that starts MPI later than the others does not change how a window is used: a window made
 * while the last rank starts, and one made later, take the same number of messages. */
#include "counter.h"

enum { PUTS = 20, LATE_US = 300000 };

/* Returns the number of messages that this rank sends for puts to the others. */
static unsigned long long use(int64_t *memory, const struct counter *sent)
{
    MPI_Win win;
    MPI_Aint mine, at;
    int next = (rank + 1) % size;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_attach(win, memory, 8));
    CHECK_OK(MPI_Get_address(memory, &mine));
    CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_AINT, (rank + size - 1) % size, 0, &at, 1, MPI_AINT, next, 0,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, MPI_MODE_NOCHECK, win));
    unsigned long long before = counter_read(sent);
    for (int64_t i = 1; i <= PUTS; i++) {
        CHECK_OK(MPI_Put(&i, 1, MPI_INT64_T, next, at, 1, MPI_INT64_T, win));
        CHECK_OK(MPI_Win_flush(next, win));
    }
    unsigned long long messages = counter_read(sent) - before;
    CHECK_OK(MPI_Win_unlock(next, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(*memory, PUTS);
    CHECK_OK(MPI_Win_detach(win, memory));
    CHECK_OK(MPI_Win_free(&win));
    return messages;
}

int main(int argc, char **argv)
{
    const char *number = getenv("OMPI_COMM_WORLD_RANK"), *ranks = getenv("OMPI_COMM_WORLD_SIZE");
    if (number && ranks && atoi(number) == atoi(ranks) - 1)
        usleep(LATE_US);
    start(&argc, &argv);
    struct counter sent = counter_open("pml_messages_sent", MPI_THREAD_SINGLE);
    int64_t *memory = allocate(sizeof *memory);
    unsigned long long first = use(memory, &sent), later = use(memory, &sent);
    CHECK_INT((long long)first, (long long)later);
    counter_close(&sent);
    free(memory);
    return end();
}
