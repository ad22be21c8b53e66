/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* A message taken by a matched probe is its handle's alone: no other probe or receive gets it. */
#include "check.h"

static void receiver(int bytes)
{
    unsigned char *buffer = allocate((size_t) bytes), other[4];
    MPI_Message message = MPI_MESSAGE_NULL, none = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Request request;
    int flag = 0, count;
    CHECK_OK(MPI_Mprobe(0, MPI_ANY_TAG, pair, &message, &status));
    CHECK(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC);
    CHECK_INT(status.MPI_TAG, 3);
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_INT(count, bytes);
    /* The second message has the same tag; a plain receive must get that one. */
    CHECK_OK(MPI_Recv(other, 4, MPI_BYTE, 0, 3, pair, &status));
    CHECK_FILLED(other, 4, 2);
    CHECK_OK(MPI_Improbe(0, 3, pair, &flag, &none, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    if (bytes % 2) {
        CHECK_OK(MPI_Mrecv(buffer, bytes, MPI_BYTE, &message, &status));
    } else {
        CHECK_OK(MPI_Imrecv(buffer, bytes, MPI_BYTE, &message, &request));
        CHECK_OK(MPI_Wait(&request, &status));
    }
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_INT(status.MPI_SOURCE, 0);
    CHECK_FILLED(buffer, (size_t) bytes, 1);
    free(buffer);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 1, 64, 4095, 65537, 1000000 };
    start_pairs(&argc, &argv);
    for (int i = 0; i < 6; i++) {
        if (rank == 0) {
            unsigned char *buffer = allocate((size_t) sizes[i]), small[4];
            MPI_Request request;
            fill(buffer, sizes[i], 1);
            fill(small, 4, 2);
            CHECK_OK(MPI_Isend(buffer, sizes[i], MPI_BYTE, 1, 3, pair, &request));
            CHECK_OK(MPI_Send(small, 4, MPI_BYTE, 1, 3, pair));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            free(buffer);
        } else {
            receiver(sizes[i]);
        }
        CHECK_OK(MPI_Barrier(pair));
    }
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int count = -1;
    CHECK_OK(MPI_Mprobe(MPI_PROC_NULL, 0, pair, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    CHECK_OK(MPI_Mrecv(NULL, 0, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_INT(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_INT(status.MPI_TAG, MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 0);
    return end();
}
