/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; libs: -lpthread */
/* An error handler may leave by longjmp, also with MPI_THREAD_MULTIPLE: no lock stays behind. */
#include "check.h"
#include <pthread.h>
#include <setjmp.h>

static jmp_buf back;

static void jump(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
    longjmp(back, 1);
}

static void *use_mpi(void *arg)
{
    int x = 3, y = 0;
    CHECK_OK(MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
                          MPI_STATUS_IGNORE));
    CHECK_INT(y, 3);
    return arg;
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    MPI_Errhandler handler;
    volatile int jumps = 0;
    int x = 0, out[4] = { 1, 2, 3, 4 };
    pthread_t thread;
    CHECK_OK(MPI_Comm_create_errhandler(jump, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    for (volatile int i = 0; i < 10; i++) {
        if (setjmp(back) == 0) {
            if (i % 2) {
                MPI_Send(&x, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
            } else {
                MPI_Request request;
                CHECK_OK(MPI_Isend(out, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, &request));
                CHECK_OK(MPI_Request_free(&request));
                MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
            FAIL("the error handler was not called");
        }
        jumps++;
        CHECK_INT(pthread_create(&thread, NULL, use_mpi, NULL), 0);
        CHECK_INT(pthread_join(thread, NULL), 0);
    }
    CHECK_INT(jumps, 10);
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    return end();
}
