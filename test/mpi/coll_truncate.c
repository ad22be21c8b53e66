/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5; env: OMPI_MCA_check_level=basic OMPI_MCA_coll_gather_algorithm=linear OMPI_MCA_coll_scatter_algorithm=linear OMPI_MCA_coll_alltoall_algorithm=linear OMPI_MCA_coll_allgather_algorithm=linear OMPI_MCA_coll_allgatherv_algorithm=linear */
/* Where more comes than a rank makes room for, the collective says MPI_ERR_TRUNCATE there, writes no more than fits, and
 * the next collectives are right everywhere. Algorithms that pass blocks on through others cannot know. */
#include "check.h"

enum { MOST = 16 };
static int in[4 * MOST], out[4 * MOST], ones[MOST], twos[MOST], at[MOST], bytes_at[MOST];
static MPI_Datatype types[MOST];

/* Every rank sends two ints, or the root does; rank `last` has room for one of each, or its sender's block is the longer one. */
static void check_result(const char *what, int code, int wrong_here)
{
    if (wrong_here)
        check_class(__FILE__, __LINE__, what, code, MPI_ERR_TRUNCATE);
    else if (code != MPI_SUCCESS)
        check_class(__FILE__, __LINE__, what, code, MPI_ERR_TRUNCATE); /* what it passes on may be short, too */
    int sum, expected = size * (size - 1) / 2;
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, expected);
}
#define RESULT(call, wrong_here) check_result(#call, call, wrong_here)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    MPI_Comm comm = MPI_COMM_WORLD;
    int last = rank == size - 1, n = last ? 1 : 2;
    for (int i = 0; i < size; i++) {
        ones[i] = 1;
        twos[i] = 2;
        at[i] = 2 * i;
        bytes_at[i] = 2 * i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    int *mine = last ? ones : twos;
    RESULT(MPI_Bcast(in, n, MPI_INT, 0, comm), last);
    RESULT(MPI_Gather(out, 2, MPI_INT, in, 1, MPI_INT, size - 1, comm), last);
    RESULT(MPI_Gatherv(out, 2, MPI_INT, in, ones, at, MPI_INT, size - 1, comm), last);
    RESULT(MPI_Scatter(out, 2, MPI_INT, in, n, MPI_INT, 0, comm), last);
    RESULT(MPI_Scatterv(out, twos, at, MPI_INT, in, n, MPI_INT, 0, comm), last);
    RESULT(MPI_Alltoallv(out, twos, at, MPI_INT, in, mine, at, MPI_INT, comm), last);
    RESULT(MPI_Alltoallw(out, twos, bytes_at, types, in, mine, bytes_at, types, comm), last);
    RESULT(MPI_Alltoall(out, 2, MPI_INT, in, n, MPI_INT, comm), last);
    RESULT(MPI_Allgather(out, 2, MPI_INT, in, n, MPI_INT, comm), last);
    RESULT(MPI_Allgatherv(out, 2, MPI_INT, in, mine, at, MPI_INT, comm), last);
    return end();
}
