/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 4 */
/* MPI_COMM_TYPE_SHARED joins the ranks of a host, ordered by key; undefined gives none. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm comm;
    char name[MPI_MAX_PROCESSOR_NAME] = "", *names = allocate((size_t) size * sizeof name);
    int length, got, same = 0;
    CHECK_OK(MPI_Get_processor_name(name, &length));
    CHECK_OK(MPI_Allgather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR,
                           MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        same += strcmp(name, names + (size_t) i * sizeof name) == 0;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL,
                                 &comm));
    CHECK_OK(MPI_Comm_size(comm, &got));
    CHECK_INT(got, same);
    CHECK_OK(MPI_Comm_rank(comm, &got));
    if (same == size)
        CHECK_INT(got, size - 1 - rank);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                                 MPI_INFO_NULL, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank % 2 == 1));
    if (comm != MPI_COMM_NULL)
        CHECK_OK(MPI_Comm_free(&comm));
    free(names);
    return end();
}
