/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 4 8 */
/* Range include and exclude, with negative strides, agree with listing the ranks. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Group world, by_range, by_list;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    uint64_t seed = 11;
    for (int round = 0; round < 200; round++) {
        int ranges[4][3], used[64] = { 0 }, list[64], n = 0, count = 0, result;
        for (int tries = 0; tries < 4; tries++) {
            int first = random_below(&seed, size), last = random_below(&seed, size);
            int stride = 1 + random_below(&seed, 3), clash = 0, at = n;
            if (last < first)
                stride = -stride;
            for (int r = first; stride > 0 ? r <= last : r >= last; r += stride)
                clash += used[r];
            if (clash)
                continue;
            for (int r = first; stride > 0 ? r <= last : r >= last; r += stride) {
                used[r] = 1;
                list[at++] = r;
            }
            n = at;
            ranges[count][0] = first;
            ranges[count][1] = last;
            ranges[count][2] = stride;
            count++;
        }
        CHECK_OK(MPI_Group_range_incl(world, count, ranges, &by_range));
        CHECK_OK(MPI_Group_incl(world, n, list, &by_list));
        CHECK_OK(MPI_Group_compare(by_range, by_list, &result));
        CHECK_INT(result, MPI_IDENT);
        CHECK_OK(MPI_Group_free(&by_range));
        CHECK_OK(MPI_Group_free(&by_list));
        CHECK_OK(MPI_Group_range_excl(world, count, ranges, &by_range));
        CHECK_OK(MPI_Group_excl(world, n, list, &by_list));
        CHECK_OK(MPI_Group_compare(by_range, by_list, &result));
        CHECK_INT(result, MPI_IDENT);
        CHECK_OK(MPI_Group_size(by_range, &count));
        CHECK_INT(count, size - n);
        CHECK_OK(MPI_Group_free(&by_range));
        CHECK_OK(MPI_Group_free(&by_list));
    }
    CHECK_OK(MPI_Group_free(&world));
    return end();
}
