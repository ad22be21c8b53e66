/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4; env: OMPI_MCA_check_level=basic OMPI_MCA_mpi_comm_synchronize=0; needs: MPI_T_pvar_read MPI_Comm_idup */
/* Ids of duplicates are agreed on ahead: few of many duplicates start a collective, a new duplicate can be duplicated
 * without one, and nobody waits for the others. */
#include "counter.h"

enum { MANY = 3000, FEW = 12, AHEAD = 30 };

static void duplicate_many(void)
{
    for (int i = 0; i < MANY; i++) {
        MPI_Comm twin;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
        CHECK_OK(MPI_Comm_free(&twin));
    }
}

static void duplicate_duplicates(void)
{
    for (int i = 0; i < MANY; i++) {
        MPI_Comm twin, thirds[3];
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
        for (int k = 0; k < 3; k++)
            CHECK_OK(MPI_Comm_dup(twin, &thirds[k]));
        for (int k = 0; k < 3; k++)
            CHECK_OK(MPI_Comm_free(&thirds[k]));
        CHECK_OK(MPI_Comm_free(&twin));
    }
}

/* All but rank 0 make their duplicates, and talk on them, while rank 0 is at its first. */
static void run_ahead(void)
{
    MPI_Comm twins[AHEAD];
    int to = rank + 1 < size ? rank + 1 : 1, from = rank > 1 ? rank - 1 : size - 1, token = 0;
    for (int i = 1; rank == 0 && i < size; i++)
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < AHEAD; i++) {
        MPI_Request request;
        if (i % 2) {
            CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &twins[i], &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &twins[i]));
        }
        if (rank > 0) {
            int out = 1000 * i + rank, in = -1;
            CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, 2, twins[i]));
            CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, to, 3, &in, 1, MPI_INT, from, 3, twins[i],
                                  MPI_STATUS_IGNORE));
            CHECK_INT(in, 1000 * i + from);
        }
    }
    if (rank > 0)
        CHECK_OK(MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    for (int i = AHEAD - 1; i >= 0; i--) {
        for (int k = 1, in = -1; rank == 0 && k < size; k++) {
            CHECK_OK(MPI_Recv(&in, 1, MPI_INT, k, MPI_ANY_TAG, twins[i], MPI_STATUS_IGNORE));
            CHECK_INT(in, 1000 * i + k);
        }
        CHECK_OK(MPI_Comm_free(&twins[i]));
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    struct counter bcasts = counter_open("coll_bcast_started", MPI_THREAD_SINGLE);
    struct counter sent = counter_open("pml_messages_sent", MPI_THREAD_SINGLE);
    duplicate_many();
    CHECK(counter_read(&bcasts) <= FEW);
    CHECK(counter_read(&sent) <= FEW * 4);
    duplicate_duplicates();
    CHECK(counter_read(&bcasts) <= 2 * FEW);
    run_ahead();
    CHECK(counter_read(&bcasts) <= 2 * FEW);
    counter_close(&sent);
    counter_close(&bcasts);
    return end();
}
