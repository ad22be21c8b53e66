/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Buffered sends complete without a receiver, need attached room, and detach waits for them. */
#include "check.h"

int main(int argc, char **argv)
{
    enum { MESSAGES = 20, INTS = 5000 };
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, pack = 0;
    CHECK_OK(MPI_Pack_size(INTS, MPI_INT, MPI_COMM_WORLD, &pack));
    int bytes = MESSAGES * (pack + MPI_BSEND_OVERHEAD);
    void *room = allocate((size_t) bytes), *detached = NULL;
    int data[INTS], detached_bytes = -1;
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Buffer_attach(room, bytes));
        CHECK(MPI_Buffer_attach(room, bytes) != MPI_SUCCESS);
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Request request;
            for (int k = 0; k < INTS; k++)
                data[k] = i * INTS + k + rank;
            if (i % 2) {
                CHECK_OK(MPI_Bsend(data, INTS, MPI_INT, to, i, MPI_COMM_WORLD));
            } else {
                CHECK_OK(MPI_Ibsend(data, INTS, MPI_INT, to, i, MPI_COMM_WORLD, &request));
                CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            }
            memset(data, 0, sizeof data);
        }
        for (int i = MESSAGES - 1; i >= 0; i--) {
            CHECK_OK(MPI_Recv(data, INTS, MPI_INT, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int k = 0; k < INTS; k++)
                CHECK_INT(data[k], i * INTS + k + from);
        }
        CHECK_OK(MPI_Buffer_detach(&detached, &detached_bytes));
        CHECK(detached == room);
        CHECK_INT(detached_bytes, bytes);
        memset(room, 0x5a, (size_t) bytes);
    }
    /* Detaching waits until the receiver has what was buffered. */
    CHECK_OK(MPI_Buffer_attach(room, bytes));
    data[0] = 4711;
    CHECK_OK(MPI_Bsend(data, INTS, MPI_INT, to, 99, MPI_COMM_WORLD));
    MPI_Request request;
    int got[INTS];
    CHECK_OK(MPI_Irecv(got, INTS, MPI_INT, from, 99, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Buffer_detach(&detached, &detached_bytes));
    memset(room, 0, (size_t) bytes);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(got[0], 4711);
    /* Too little room is MPI_ERR_BUFFER, no matter whether the message would have gone at once. */
    CHECK_OK(MPI_Buffer_attach(room, 1000));
    CHECK_CLASS(MPI_Bsend(data, INTS, MPI_INT, to, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Buffer_detach(&detached, &detached_bytes));
    free(room);
    return end();
}
