/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_pml_eager_credit=64k OMPI_MCA_pml_unexpected_memory=1m; needs: MPI_T_pvar_handle_alloc */
/* Messages that nobody has asked for yet go whole, far beyond the credit, as long as the receiver has memory for such: again
 * and again, when the earlier ones have been received or dropped with their communicator. Beyond that memory they are only
 * announced. */
#include "counter.h"

#ifndef LEVEL
#define LEVEL MPI_THREAD_SINGLE
#endif

enum { ROUNDS = 12, FEW = 5000, MANY = 20000 }; /* each costs some 100 bytes */

/* Rank 1 takes the last one first, so all others have come before their receives. drop: they never get any. */
static void exchange(int messages, int drop)
{
    int value = 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Request *requests = allocate(messages * sizeof *requests);
    for (int i = 0; rank == 0 && i < messages; i++) {
        /* some at a time: credit comes back between them */
        CHECK_OK(MPI_Isend(&value, 1, MPI_INT, 1, 1, comm, &requests[i]));
        if (i % 100 == 99) {
            CHECK_OK(MPI_Send(&value, 1, MPI_INT, 1, 2, comm));
            CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 1, 2, comm, MPI_STATUS_IGNORE));
        }
    }
    for (int i = 0; rank == 1 && i < messages; i += 100) {
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 2, comm));
    }
    for (int i = 0; rank == 1 && !drop && i < messages; i++)
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
    if (rank == 0)
        CHECK_OK(MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE));
    free(requests);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, LEVEL);
    struct counter announced = counter_open("pml_rendezvous_sent", LEVEL);
    for (int round = 0; round < ROUNDS; round++) {
        exchange(FEW, round % 2);
        CHECK_INT(counter_read(&announced), 0);
    }
    exchange(MANY, 0);
    CHECK(rank == 1 || counter_read(&announced) > 0);
    exchange(FEW, 0);
    counter_close(&announced);
    return end();
}
