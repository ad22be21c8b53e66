/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 5 */
/* MPI_Comm_create_group is collective over the group alone; others do not take part. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Group world, group;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int round = 0; round < 5; round++) {
        /* The last rank stays out in every second round and never calls. */
        int range[1][3] = { { 0, size - 1 - round % 2, 1 } }, sum = 0, members = size - round % 2;
        CHECK_OK(MPI_Group_range_incl(world, 1, range, &group));
        if (rank < members) {
            MPI_Comm comm;
            CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, round, &comm));
            CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
            CHECK_INT(sum, members * (members - 1) / 2);
            CHECK_OK(MPI_Comm_free(&comm));
        }
        CHECK_OK(MPI_Group_free(&group));
    }
    CHECK_OK(MPI_Group_free(&world));
    return end();
}
