/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; args: 1500; long-args: 300000 */
/* Context ids are used again: more communicators than a 16-bit number can count, few at a time. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int many = argument(argc, argv, 1500), sum;
    MPI_Comm kept[8];
    for (int i = 0; i < 8; i++)
        kept[i] = MPI_COMM_NULL;
    for (int i = 0; i < many; i++) {
        int slot = i * 5 % 8;
        if (kept[slot] != MPI_COMM_NULL)
            CHECK_OK(MPI_Comm_free(&kept[slot]));
        if (i % 3 == 0)
            CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &kept[slot]));
        else
            CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &kept[slot]));
        if (i % 50 == 0) {
            int expected = 0, one = 1;
            CHECK_OK(MPI_Comm_size(kept[slot], &expected));
            CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, kept[slot]));
            CHECK_INT(sum, expected);
        }
    }
    for (int i = 0; i < 8; i++)
        if (kept[i] != MPI_COMM_NULL)
            CHECK_OK(MPI_Comm_free(&kept[i]));
    return end();
}
