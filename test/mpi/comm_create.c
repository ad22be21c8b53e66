/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 4 5 */
/* MPI_Comm_create gives members their communicator, others none; disjoint groups at once. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Group world, group;
    MPI_Comm comm;
    int ranks[64], n = 0, got, sum;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = size - 1; i >= 0; i -= 2)
        ranks[n++] = i;
    CHECK_OK(MPI_Group_incl(world, n, ranks, &group));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
    CHECK_OK(MPI_Group_rank(group, &got));
    CHECK((comm == MPI_COMM_NULL) == (got == MPI_UNDEFINED));
    if (comm != MPI_COMM_NULL) {
        int me;
        CHECK_OK(MPI_Comm_rank(comm, &me));
        CHECK_INT(me, got);
        CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        int expected = 0;
        for (int i = 0; i < n; i++)
            expected += ranks[i];
        CHECK_INT(sum, expected);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Group_free(&group));
    /* Even and odd ranks each name their own group. */
    n = 0;
    for (int i = rank % 2; i < size; i += 2)
        ranks[n++] = i;
    CHECK_OK(MPI_Group_incl(world, n, ranks, &group));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
    CHECK_OK(MPI_Comm_size(comm, &got));
    CHECK_INT(got, n);
    CHECK_OK(MPI_Comm_rank(comm, &got));
    CHECK_INT(got, rank / 2);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
    CHECK(comm == MPI_COMM_NULL);
    CHECK_OK(MPI_Group_free(&world));
    return end();
}
