/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* MPI_INFO_ENV can be read as any info object and does not change. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int n = -1, flag;
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    CHECK(MPI_INFO_ENV != MPI_INFO_NULL);
    CHECK_OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &n));
    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        CHECK_OK(MPI_Info_get_nthkey(MPI_INFO_ENV, i, key));
        CHECK_OK(MPI_Info_get(MPI_INFO_ENV, key, MPI_MAX_INFO_VAL, value, &flag));
        CHECK_INT(flag, 1);
    }
    CHECK_OK(MPI_Info_get(MPI_INFO_ENV, "maxprocs", MPI_MAX_INFO_VAL, value, &flag));
    if (flag)
        CHECK_INT(atoi(value), size);
    return end();
}
