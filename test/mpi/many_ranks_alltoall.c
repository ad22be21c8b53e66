/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 8 64; long: 16 128; limit: 600 */
/* Every rank sends to every other at once, several rounds; more ranks than cores. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Request *r = allocate(2 * (size_t) size * sizeof(MPI_Request));
    int (*out)[4] = allocate((size_t) size * sizeof *out);
    int (*in)[4] = allocate((size_t) size * sizeof *in);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < size; i++) {
            int from = (rank + size - i) % size;
            in[from][3] = -1;
            CHECK_OK(MPI_Irecv(in[from], 4, MPI_INT, from, round, MPI_COMM_WORLD, &r[i]));
        }
        for (int i = 0; i < size; i++) {
            int to = (rank + i) % size;
            out[to][0] = rank;
            out[to][1] = to;
            out[to][2] = round;
            out[to][3] = rank * to + round;
            CHECK_OK(MPI_Isend(out[to], 4, MPI_INT, to, round, MPI_COMM_WORLD, &r[size + i]));
        }
        CHECK_OK(MPI_Waitall(2 * size, r, MPI_STATUSES_IGNORE));
        for (int from = 0; from < size; from++) {
            CHECK_INT(in[from][0], from);
            CHECK_INT(in[from][1], rank);
            CHECK_INT(in[from][2], round);
            CHECK_INT(in[from][3], from * rank + round);
        }
    }
    int sum = 0;
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size * (size - 1) / 2);
    free(r);
    free(out);
    free(in);
    return end();
}
