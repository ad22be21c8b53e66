/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 16 */
/* MPI_Comm_split orders the ranks of a colour by key, then old rank; undefined gives none. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    uint64_t seed = 3;
    for (int round = 0; round < 40; round++) {
        int colors[64], keys[64], many = 1 + round % 5;
        for (int i = 0; i < size; i++) {
            colors[i] = random_below(&seed, many + 1) - 1;
            if (colors[i] < 0)
                colors[i] = round % 3 ? MPI_UNDEFINED : 1000000;
            keys[i] = random_below(&seed, 5) - 2;
        }
        MPI_Comm comm;
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, colors[rank], keys[rank], &comm));
        if (colors[rank] == MPI_UNDEFINED) {
            CHECK(comm == MPI_COMM_NULL);
            continue;
        }
        int expected_size = 0, expected_rank = 0, got, sum = 0, expected_sum = 0;
        for (int i = 0; i < size; i++) {
            if (colors[i] != colors[rank])
                continue;
            expected_size++;
            expected_sum += i;
            if (keys[i] < keys[rank] || (keys[i] == keys[rank] && i < rank))
                expected_rank++;
        }
        CHECK_OK(MPI_Comm_size(comm, &got));
        CHECK_INT(got, expected_size);
        CHECK_OK(MPI_Comm_rank(comm, &got));
        CHECK_INT(got, expected_rank);
        CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, expected_sum);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return end();
}
