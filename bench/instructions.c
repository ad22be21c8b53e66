/* SPDX-License-Identifier: BSD-3-Clause */
/* For valgrind --tool=callgrind on rank 0: sends 8 bytes to rank 1 and receives 8 bytes back, N
 * times. With -DAS_FORTRAN=1 rank 0 sends as a Fortran program does. Rank 1 says by a signal that it
 * has answered, and rank 0 receives after that, so no instruction is spent on waiting. */
#include "bench.h"

#include <signal.h>
#include <unistd.h>

#if AS_FORTRAN
void mpi_send_(void *, int *, MPI_Fint *, int *, int *, MPI_Fint *, MPI_Fint *);

static void send_bytes(int64_t *x)
{
    MPI_Fint type = MPI_Type_c2f(MPI_BYTE), comm = MPI_Comm_c2f(MPI_COMM_WORLD), ierror;
    int count = 8, dest = 1, tag = 1;
    mpi_send_(x, &count, &type, &dest, &tag, &comm, &ierror);
}
#else
static inline void send_bytes(int64_t *x)
{
    MPI_Send(x, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
}
#endif

int main(int argc, char **argv)
{
    int64_t x = 0;
    int messages = argc > 1 ? atoi(argv[1]) : 100, pid = (int)getpid(), got;
    sigset_t answered;
    argc = 1;
    sigemptyset(&answered);
    sigaddset(&answered, SIGUSR1);
    sigprocmask(SIG_BLOCK, &answered, NULL);
    bench_start(&argc, &argv, 8);
    bench_need_ranks(2);
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < messages; i++) {
        if (rank == 0) {
            send_bytes(&x);
            sigwait(&answered, &got);
            MPI_Recv(&x, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&x, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&x, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
            kill(pid, SIGUSR1);
        }
    }
    MPI_Finalize();
    return 0;
}
