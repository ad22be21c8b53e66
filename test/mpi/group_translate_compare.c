/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 6 */
/* Translating ranks between groups, MPI_PROC_NULL and strangers too; comparing groups. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Group world, reverse, odd, same;
    int ranks[64], back[64], n = 0, result;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < size; i++)
        ranks[i] = size - 1 - i;
    CHECK_OK(MPI_Group_incl(world, size, ranks, &reverse));
    CHECK_OK(MPI_Group_translate_ranks(world, size, ranks, reverse, back));
    for (int i = 0; i < size; i++)
        CHECK_INT(back[i], i);
    CHECK_OK(MPI_Group_compare(world, reverse, &result));
    CHECK_INT(result, size == 1 ? MPI_IDENT : MPI_SIMILAR);
    for (int i = 1; i < size; i += 2)
        ranks[n++] = i;
    CHECK_OK(MPI_Group_incl(world, n, ranks, &odd));
    CHECK_OK(MPI_Group_compare(world, odd, &result));
    CHECK_INT(result, MPI_UNEQUAL);
    int ask[] = { 0, MPI_PROC_NULL, size - 1 }, got[3];
    CHECK_OK(MPI_Group_translate_ranks(world, 3, ask, odd, got));
    CHECK_INT(got[0], MPI_UNDEFINED);
    CHECK_INT(got[1], MPI_PROC_NULL);
    CHECK_INT(got[2], size % 2 == 0 ? size / 2 - 1 : MPI_UNDEFINED);
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    CHECK_OK(MPI_Group_incl(world, size, ranks, &same));
    CHECK_OK(MPI_Group_compare(world, same, &result));
    CHECK_INT(result, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&same));
    CHECK_OK(MPI_Group_free(&odd));
    CHECK_OK(MPI_Group_free(&reverse));
    CHECK_OK(MPI_Group_free(&world));
    return end();
}
