/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_btl=tcp,self */
/* By TCP, blocking sends of up to 1 MiB keep their order and their bytes among others: some go at once, some find the socket full and are
 * announced, and the receiver comes early or late. */
#include "check.h"

enum { MOST = 1100 * 1024, ROUNDS = 12 };

/* 1 MiB and its neighbours, and what goes another way */
static const int sizes[] = { 1, 300 * 1024, 1024 * 1024, 1024 * 1024, 70 * 1024, 1024 * 1024 + 1, 5000, 600 * 1024, 1024 * 1024, 0, 257 * 1024 };
enum { SIZES = sizeof sizes / sizeof *sizes };

static unsigned char out[MOST], in[MOST];

/* Sends all sizes; each second short message by MPI_Isend, from memory of its own. */
static void send_all(int peer, unsigned seed)
{
    static unsigned char few[70 * 1024];
    for (int k = 0; k < SIZES; k++) {
        MPI_Request request;
        if (k % 2 == 0 && sizes[k] <= (int) sizeof few) {
            fill(few, (size_t) sizes[k], seed + (unsigned) k);
            CHECK_OK(MPI_Isend(few, sizes[k], MPI_BYTE, peer, 3, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            fill(out, (size_t) sizes[k], seed + (unsigned) k);
            CHECK_OK(MPI_Send(out, sizes[k], MPI_BYTE, peer, 3, MPI_COMM_WORLD));
        }
    }
}

static void receive_all(int peer, unsigned seed)
{
    for (int k = 0; k < SIZES; k++) {
        MPI_Status status;
        int bytes;
        CHECK_OK(MPI_Recv(in, MOST, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
        CHECK_INT(bytes, sizes[k]);
        CHECK_FILLED(in, (size_t) bytes, seed + (unsigned) k);
    }
}

/* One rank sends, the other one receives; it is late every third time, and has then no receive posted when the first messages come. */
static void one_way(int sender, unsigned seed, int late)
{
    if (rank == sender) {
        send_all(1 - rank, seed);
    } else {
        if (late) {
            int found;
            usleep(2000);
            CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
        }
        receive_all(1 - rank, seed);
    }
}

/* Both ranks send long messages to each other at the same time. */
static void both_ways(unsigned seed)
{
    for (int k = 0; k < SIZES; k++) {
        fill(out, (size_t) sizes[k], seed + (unsigned) (k + rank));
        CHECK_OK(MPI_Sendrecv(out, sizes[k], MPI_BYTE, 1 - rank, 4, in, MOST, MPI_BYTE, 1 - rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_FILLED(in, (size_t) sizes[k], seed + (unsigned) (k + 1 - rank));
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (unsigned i = 0; i < ROUNDS; i++) {
        one_way(i % 2, 100 * i, i % 3 == 0);
        both_ways(100 * i + 50);
    }
    return end();
}
