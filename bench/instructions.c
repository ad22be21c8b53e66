/* SPDX-License-Identifier: BSD-3-Clause */
/* For valgrind --tool=callgrind on rank 0: sends 8 bytes to rank 1 and receives 8 bytes back, N
 * times. With -DAS_FORTRAN=1 rank 0 sends as a Fortran program does. The answer has arrived when it is received, so no instruction is spent on waiting. */
#include "bench.h"

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
    int messages = argc > 1 ? atoi(argv[1]) : 100;
    argc = 1;
    bench_start(&argc, &argv, 8);
    bench_need_ranks(2);
    for (int i = 0; i < messages; i++) {
        if (rank == 0) {
            send_bytes(&x);
            usleep(5000); /* rank 1 answers meanwhile */
            MPI_Recv(&x, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&x, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&x, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
