/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* Intercommunicators know both groups; merging puts the low group first. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int cut = 1; cut < size; cut += cut) {
        MPI_Comm local, inter, merged;
        MPI_Group group;
        int upper = rank >= cut, n, got, remote, result;
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &local));
        CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, upper ? 0 : cut, 12, &inter));
        CHECK_OK(MPI_Comm_test_inter(inter, &got));
        CHECK_INT(got, 1);
        CHECK_OK(MPI_Comm_size(inter, &n));
        CHECK_OK(MPI_Comm_rank(inter, &got));
        CHECK_OK(MPI_Comm_remote_size(inter, &remote));
        CHECK_INT(n, upper ? size - cut : cut);
        CHECK_INT(remote, size - n);
        CHECK_INT(got, upper ? rank - cut : rank);
        CHECK_OK(MPI_Comm_remote_group(inter, &group));
        CHECK_OK(MPI_Group_rank(group, &got));
        CHECK_INT(got, MPI_UNDEFINED);
        CHECK_OK(MPI_Group_free(&group));
        CHECK_OK(MPI_Comm_group(inter, &group));
        CHECK_OK(MPI_Group_size(group, &got));
        CHECK_INT(got, n);
        CHECK_OK(MPI_Group_free(&group));
        for (int high = 0; high < 2; high++) {
            /* First the lower ranks low, then the upper ones. */
            CHECK_OK(MPI_Intercomm_merge(inter, high ? !upper : upper, &merged));
            CHECK_OK(MPI_Comm_rank(merged, &got));
            CHECK_INT(got, high ? (upper ? rank - cut : rank + size - cut) : rank);
            CHECK_OK(MPI_Comm_compare(merged, MPI_COMM_WORLD, &result));
            CHECK_INT(result, high ? MPI_SIMILAR : MPI_CONGRUENT);
            int sum = 0;
            CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
            CHECK_INT(sum, size * (size - 1) / 2);
            CHECK_OK(MPI_Comm_free(&merged));
        }
        CHECK_OK(MPI_Comm_free(&inter));
        CHECK_OK(MPI_Comm_free(&local));
    }
    return end();
}
