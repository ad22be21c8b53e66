/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 */
/* A nonblocking collective keeps what it needs: communicator, type and operation may be freed
 * meanwhile. */
#include "check.h"

static void add_pairs(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < 3 * *count; i += 3) {
        ((int *)inout)[i] += ((int *)in)[i];
        ((int *)inout)[i + 2] += ((int *)in)[i + 2];
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int again = 0; again < 20; again++) {
        int in[6] = {rank, 7, rank + 1, rank + 2, 7, rank + 3}, sum[6] = {-1, -1, -1, -1, -1, -1};
        int all[64][6];
        MPI_Comm comm;
        MPI_Datatype pair, outer;
        MPI_Op add;
        MPI_Request requests[4];
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
        CHECK_OK(MPI_Type_commit(&pair));
        CHECK_OK(MPI_Type_contiguous(6, MPI_INT, &outer));
        CHECK_OK(MPI_Type_commit(&outer));
        CHECK_OK(MPI_Op_create(add_pairs, 1, &add));
        MPI_Datatype types[64];
        int counts[64], places[64];
        for (int r = 0; r < size; r++) {
            types[r] = outer;
            counts[r] = 1;
            places[r] = r * 6 * (int)sizeof(int);
        }
        int zeros[64] = {0};
        CHECK_OK(MPI_Iallreduce(in, sum, 2, pair, add, comm, &requests[0]));
        CHECK_OK(MPI_Ialltoallw(in, counts, zeros, types, all, counts, places, types, comm,
                                &requests[1]));
        CHECK_OK(MPI_Ibarrier(comm, &requests[2]));
        CHECK_OK(MPI_Iexscan(in, sum, 0, pair, add, comm, &requests[3]));
        CHECK_OK(MPI_Op_free(&add));
        CHECK_OK(MPI_Type_free(&pair));
        CHECK_OK(MPI_Type_free(&outer));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
        int ranks = size * (size - 1) / 2;
        for (int i = 0; i < 6; i++)
            CHECK_INT(sum[i], i == 1 || i == 4 ? -1 : ranks + size * (i - (i > 3) - (i > 0)));
        for (int r = 0; r < size; r++)
            for (int i = 0; i < 6; i++)
                CHECK_INT(all[r][i], i == 1 || i == 4 ? 7 : r + i - (i > 3) - (i > 0));
    }
    return end();
}
