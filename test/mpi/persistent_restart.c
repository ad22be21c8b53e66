/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Persistent requests of every mode can be started again and again; inactive ones stay valid. */
#include "check.h"

enum { MODES = 4, MOST = 50000 };

int main(int argc, char **argv)
{
    static const int sizes[] = { 1, 100, 5000, MOST };
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, bytes;
    int *out[MODES], *in[MODES];
    char *room = allocate(MOST * 4 + 1000);
    CHECK_OK(MPI_Buffer_attach(room, MOST * 4 + 1000));
    for (int m = 0; m < MODES; m++) {
        out[m] = allocate(MOST * sizeof(int));
        in[m] = allocate(MOST * sizeof(int));
    }
    for (int s = 0; s < 4; s++) {
        MPI_Request r[2 * MODES];
        MPI_Status statuses[2 * MODES];
        int n = sizes[s];
        for (int m = 0; m < MODES; m++)
            CHECK_OK(MPI_Recv_init(in[m], n, MPI_INT, m % 2 ? from : MPI_ANY_SOURCE, m,
                                   MPI_COMM_WORLD, &r[m]));
        CHECK_OK(MPI_Send_init(out[0], n, MPI_INT, to, 0, MPI_COMM_WORLD, &r[4]));
        CHECK_OK(MPI_Bsend_init(out[1], n, MPI_INT, to, 1, MPI_COMM_WORLD, &r[5]));
        CHECK_OK(MPI_Ssend_init(out[2], n, MPI_INT, to, 2, MPI_COMM_WORLD, &r[6]));
        CHECK_OK(MPI_Rsend_init(out[3], n, MPI_INT, to, 3, MPI_COMM_WORLD, &r[7]));
        for (int round = 0; round < 6; round++) {
            for (int m = 0; m < MODES; m++) {
                memset(in[m], 0, (size_t) n * sizeof(int));
                for (int i = 0; i < n; i++)
                    out[m][i] = rank + m * 3 + round * 7 + i;
            }
            CHECK_OK(MPI_Startall(MODES, r));
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            CHECK_OK(MPI_Startall(MODES - 1, r + MODES));
            CHECK_OK(MPI_Start(&r[7]));
            CHECK_OK(MPI_Waitall(2 * MODES, r, statuses));
            for (int m = 0; m < MODES; m++) {
                CHECK_INT(statuses[m].MPI_SOURCE, from);
                CHECK_INT(statuses[m].MPI_TAG, m);
                for (int i = 0; i < n; i++)
                    CHECK_INT(in[m][i], from + m * 3 + round * 7 + i);
            }
            for (int i = 0; i < 2 * MODES; i++)
                CHECK(r[i] != MPI_REQUEST_NULL);
        }
        for (int i = 0; i < 2 * MODES; i++)
            CHECK_OK(MPI_Request_free(&r[i]));
    }
    CHECK_OK(MPI_Buffer_detach(&room, &bytes));
    free(room);
    for (int m = 0; m < MODES; m++) {
        free(out[m]);
        free(in[m]);
    }
    return end();
}
