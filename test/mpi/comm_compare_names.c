/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* MPI_Comm_compare's four answers, and the names of communicators. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm copy, reversed, self;
    int result, length;
    char name[MPI_MAX_OBJECT_NAME];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
    CHECK_OK(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result));
    CHECK_INT(result, MPI_IDENT);
    CHECK_OK(MPI_Comm_compare(MPI_COMM_WORLD, copy, &result));
    CHECK_INT(result, MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_compare(MPI_COMM_WORLD, reversed, &result));
    CHECK_INT(result, size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    CHECK_OK(MPI_Comm_compare(MPI_COMM_WORLD, self, &result));
    CHECK_INT(result, size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);

    CHECK_OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK_STRING(name, "MPI_COMM_WORLD");
    CHECK_INT(length, 14);
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &length));
    CHECK_STRING(name, "MPI_COMM_SELF");
    CHECK_OK(MPI_Comm_set_name(copy, "a copy"));
    CHECK_OK(MPI_Comm_get_name(copy, name, &length));
    CHECK_STRING(name, "a copy");
    CHECK_INT(length, 6);
    CHECK_OK(MPI_Comm_set_name(copy, ""));
    CHECK_OK(MPI_Comm_get_name(copy, name, &length));
    CHECK_STRING(name, "");
    int inter = -1;
    CHECK_OK(MPI_Comm_test_inter(copy, &inter));
    CHECK_INT(inter, 0);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&reversed));
    CHECK_OK(MPI_Comm_free(&self));
    return end();
}
