/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* Synchronous sends that nobody receives can be cancelled, whether they wait behind others in the sender, or have come to a
 * process that has not made the communicator yet; and the messages around them arrive in order. */
#include "check.h"

enum { OTHERS = 300, CANCELLED_TAG = 7 };

/* An answer of the peer comes after all that we sent before: it has seen the wish to cancel. */
static void check_cancelled(MPI_Request *request)
{
    MPI_Status status;
    int word = 0, done = 0, was_cancelled = 0;

    CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 1, 3, pair, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Test(request, &done, &status));
    CHECK(done);
    CHECK_OK(MPI_Test_cancelled(&status, &was_cancelled));
    CHECK(was_cancelled);
}

static void send_and_cancel(MPI_Comm comm, int others, int synchronous_bytes)
{
    static int words[OTHERS];
    static char bytes[100000];
    MPI_Request requests[OTHERS], cancelled;

    for (int i = 0; i < others; i++) {
        words[i] = i;
        if (i == others / 2) {
            CHECK_OK(MPI_Issend(bytes, synchronous_bytes, MPI_BYTE, 1, CANCELLED_TAG, comm, &cancelled));
            CHECK_OK(MPI_Cancel(&cancelled));
        }
        CHECK_OK(MPI_Isend(&words[i], 1, MPI_INT, 1, 1, comm, &requests[i]));
    }
    CHECK_OK(MPI_Waitall(others, requests, MPI_STATUSES_IGNORE));
    check_cancelled(&cancelled);
}

static void receive_others(MPI_Comm comm, int others)
{
    int word = -1, flag = 1;

    for (int i = 0; i < others; i++) {
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
        CHECK_INT(word, i);
    }
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, 3, pair));
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 100, 100000 };

    start_pairs(&argc, &argv);
    for (int i = 0; i < 6; i++) {
        int others = i < 3 ? OTHERS : 20;
        MPI_Comm comm;
        if (rank == 1 && i >= 3)
            usleep(20000); /* messages come before the communicator is there */
        CHECK_OK(MPI_Comm_dup(pair, &comm));
        if (rank == 0) {
            send_and_cancel(comm, others, sizes[i % 3]);
        } else {
            if (i < 3)
                usleep(20000); /* the links fill up */
            receive_others(comm, others);
        }
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return end();
}
