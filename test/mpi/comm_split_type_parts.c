/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 4 */
/* Every split_type of Open MPI divides the ranks: each is in one part, ordered by key; MPI_UNDEFINED gives none, an unknown
 * one is refused. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int types[] = { MPI_COMM_TYPE_SHARED, OMPI_COMM_TYPE_NODE, OMPI_COMM_TYPE_HWTHREAD, OMPI_COMM_TYPE_CORE,
        OMPI_COMM_TYPE_L1CACHE, OMPI_COMM_TYPE_L2CACHE, OMPI_COMM_TYPE_L3CACHE, OMPI_COMM_TYPE_SOCKET,
        OMPI_COMM_TYPE_NUMA, OMPI_COMM_TYPE_BOARD, OMPI_COMM_TYPE_HOST, OMPI_COMM_TYPE_CU, OMPI_COMM_TYPE_CLUSTER };
    MPI_Comm part;
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        int ranks, place, world[64], leads, parts;
        CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, types[t], -rank, MPI_INFO_NULL, &part));
        CHECK_OK(MPI_Comm_size(part, &ranks));
        CHECK_OK(MPI_Comm_rank(part, &place));
        CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, world, 1, MPI_INT, part));
        CHECK_INT(world[place], rank);
        for (int i = 1; i < ranks; i++)
            CHECK(world[i] < world[i - 1]);
        leads = place == 0 ? ranks : 0;
        CHECK_OK(MPI_Allreduce(&leads, &parts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(parts, size);
        if (types[t] == MPI_COMM_TYPE_SHARED)
            CHECK_INT(ranks, size); /* the tests run on one host */
        CHECK_OK(MPI_Comm_free(&part));
    }
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &part));
    CHECK(part == MPI_COMM_NULL);
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, 99, 0, MPI_INFO_NULL, &part), MPI_ERR_ARG);
    return end();
}
