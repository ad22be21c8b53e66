/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Communicator, datatype and even the send request may be freed while a large message is under way. */
#include "check.h"

enum { COUNT = 100000, ROUNDS = 10 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int *out = allocate(2 * COUNT * sizeof *out), *in = allocate(2 * COUNT * sizeof *in);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;

    for (int i = 0; i < 2 * COUNT; i++)
        out[i] = rank * 1000 + i;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        MPI_Datatype type;
        MPI_Request send, receive;
        MPI_Status status;

        memset(in, 0, 2 * COUNT * sizeof *in);
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        CHECK_OK(MPI_Type_vector(COUNT, 1, 2, MPI_INT, &type));
        CHECK_OK(MPI_Type_commit(&type));
        CHECK_OK(MPI_Isend(out, 1, type, next, 1, comm, &send));
        if (round % 2)
            CHECK_OK(MPI_Request_free(&send));
        CHECK_OK(MPI_Irecv(in, 1, type, previous, 1, comm, &receive));
        CHECK_OK(MPI_Type_free(&type));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Wait(&receive, &status));
        CHECK_INT(status.MPI_SOURCE, previous);
        for (int i = 0; i < 2 * COUNT; i++)
            CHECK_INT(in[i], i % 2 ? 0 : previous * 1000 + i);
        if (!(round % 2))
            CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* out is everybody's again */
    }
    free(in);
    free(out);
    return end();
}
