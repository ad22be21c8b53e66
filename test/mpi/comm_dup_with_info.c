/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/* MPI_Comm_dup_with_info and MPI_Comm_set_info: unknown hints are ignored. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Info info, used;
    MPI_Comm comm;
    int sum = 0, result;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "no_such_hint", "7"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    CHECK_OK(MPI_Comm_compare(comm, MPI_COMM_WORLD, &result));
    CHECK_INT(result, MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_set_info(comm, info));
    CHECK_OK(MPI_Comm_get_info(comm, &used));
    CHECK(used != MPI_INFO_NULL);
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, size * (size - 1) / 2);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm));
    CHECK_OK(MPI_Comm_free(&comm));
    return end();
}
