/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Types of more than 2 GiB: the int queries say MPI_UNDEFINED, the wide ones the truth. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Datatype mega, type, pair, wide;
    MPI_Count n, lb, extent;
    MPI_Aint at[] = { 0, (MPI_Aint) 5 << 30 };
    MPI_Status status;
    int bytes = 0, count = 0, lengths[] = { 1, 1 };
    memset(&status, 0, sizeof status);
    CHECK_OK(MPI_Type_contiguous(1 << 20, MPI_BYTE, &mega));
    CHECK_OK(MPI_Type_contiguous(5000, mega, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_size(type, &bytes));
    CHECK_INT(bytes, MPI_UNDEFINED);
    CHECK_OK(MPI_Type_size_x(type, &n));
    CHECK_INT(n, (long long) 5000 << 20);
    CHECK_OK(MPI_Type_get_extent_x(type, &lb, &extent));
    CHECK_INT(lb, 0);
    CHECK_INT(extent, (long long) 5000 << 20);
    /* Small data, wide span. */
    CHECK_OK(MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &wide));
    CHECK_OK(MPI_Type_size(wide, &bytes));
    CHECK_INT(bytes, 8);
    CHECK_OK(MPI_Type_get_true_extent_x(wide, &lb, &extent));
    CHECK_INT(extent, ((long long) 5 << 30) + 4);
    CHECK_OK(MPI_Type_vector(3, 1, 1 << 30, mega, &pair));
    CHECK_OK(MPI_Type_get_extent_x(pair, &lb, &extent));
    CHECK_INT(extent, ((long long) 2 << 50) + (1 << 20));
    CHECK_OK(MPI_Status_set_elements_x(&status, type, (MPI_Count) 3));
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Type_free(&wide));
    CHECK_OK(MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count) 10000 << 20));
    CHECK_OK(MPI_Get_count(&status, type, &count));
    CHECK_INT(count, 2);
    CHECK_OK(MPI_Get_elements(&status, type, &count));
    CHECK_INT(count, MPI_UNDEFINED);
    CHECK_OK(MPI_Get_elements_x(&status, type, &n));
    CHECK_INT(n, (long long) 10000 << 20);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&mega));
    return end();
}
