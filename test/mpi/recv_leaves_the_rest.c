/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_btl=shm,self; needs: MPI_T_pvar_handle_alloc */
/* Who receives one message takes one: those behind it stay where they are until they have a receive, too, rather than being
 * copied aside. With receives for all of them posted, all are taken. */
#include "counter.h"

#include <unistd.h>

enum { MESSAGES = 40, ROUNDS = 5 };

static void receive(int first, int count, int posted)
{
    MPI_Request requests[MESSAGES];
    int values[MESSAGES];
    for (int i = 0; i < count; i++)
        if (posted)
            MPI_Irecv(&values[i], 1, MPI_INT, 0, first + i, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Recv(&values[i], 1, MPI_INT, 0, first + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (posted)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        CHECK(values[i] == first + i);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    struct counter unexpected = counter_open("pml_unexpected_messages", MPI_THREAD_SINGLE);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; rank == 0 && i < 2 * MESSAGES; i++)
            MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        if (rank == 1) {
            usleep(20000); /* most will be there; the result does not depend on it */
            unsigned long long before = counter_read(&unexpected);
            receive(0, MESSAGES, 0);
            receive(MESSAGES, MESSAGES, 1);
            CHECK(counter_read(&unexpected) == before);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    counter_close(&unexpected);
    return end();
}
