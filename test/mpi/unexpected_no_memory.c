/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* A message that comes before its receive, when there is no memory to keep it: the receive that matches it fails, says how long the
 * message was, and everything else goes on. A synchronous send of such a message ends, too. The program's own malloc refuses some sizes. */
#include "check.h"

#include <errno.h>
#include <stdbool.h>

enum { SHORTEST = 4000, LENGTH = 5000, LONGEST = 8000 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* A sanitizer has a malloc of its own, which nobody may replace. */
static int refuse;
#else
static volatile int refuse;
extern void *__libc_malloc(size_t size);
void *malloc(size_t size)
{
    if (refuse && size >= SHORTEST && size <= LONGEST) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(size);
}
#endif

/* Returns true if malloc refuses when told to. Where valgrind or a sanitizer has put its own in the place, it does not: then the
 * second half of this test, where all is well, runs alone. */
static bool replaced(void)
{
    refuse = 1;
    void *volatile block = malloc(SHORTEST);
    refuse = 0;
    free(block);
    return !block;
}

/* Rank 1 lets the messages arrive without receiving them, when there is memory for them or not. */
static void let_arrive(int last_tag, bool memory)
{
    int found = 0;
    refuse = !memory;
    while (!found)
        CHECK_OK(MPI_Iprobe(0, last_tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
    refuse = 0;
}

int main(int argc, char **argv)
{
    static char bytes[LENGTH], got[LENGTH];
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    memset(bytes, 7, sizeof bytes);
    for (int memory = replaced() ? 0 : 1; memory < 2; memory++) {
        if (rank == 0) {
            CHECK_OK(MPI_Send(bytes, LENGTH, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
            CHECK_OK(MPI_Send(bytes, 9, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
            CHECK_OK(MPI_Ssend(bytes, LENGTH, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
            CHECK_OK(MPI_Send(bytes, 10, MPI_BYTE, 1, 4, MPI_COMM_WORLD));
        } else {
            int rc;
            let_arrive(2, memory);
            CHECK_OK(MPI_Recv(got, 9, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_BYTES(got, bytes, 9);
            memset(got, 0, sizeof got);
            rc = MPI_Recv(got, LENGTH, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (memory) {
                CHECK_OK(rc);
                CHECK_BYTES(got, bytes, LENGTH);
            } else {
                CHECK_CLASS(rc, MPI_ERR_NO_MEM);
            }
            if (memory) {
                CHECK_OK(MPI_Recv(got, LENGTH, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            } else {
                let_arrive(4, false);
                CHECK_CLASS(MPI_Recv(got, LENGTH, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_NO_MEM);
            }
            CHECK_OK(MPI_Recv(got, LENGTH, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return end();
}
