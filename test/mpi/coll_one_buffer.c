/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* One buffer in the place of two is refused, with the cure, where a count and a datatype describe both. Types that choose
 * different bytes of one array, no elements, and MPI_BOTTOM are no fault. */
#include "check.h"

int main(int argc, char **argv)
{
    int data[64] = {0}, other[64] = {0};
    char text[MPI_MAX_ERROR_STRING];
    int length, one = 1, behind = 32;
    MPI_Datatype first, second;
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);

    int code = MPI_Allreduce(data, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_BUFFER);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strstr(text, "pass MPI_IN_PLACE as sendbuf") != NULL);
    CHECK_CLASS(MPI_Alltoall(data, 1, MPI_INT, data, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgather(data, 1, MPI_INT, data, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);

    CHECK_OK(MPI_Allreduce(data, data, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Reduce(rank ? data : other, rank ? data : data + 1, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));

    CHECK_OK(MPI_Type_indexed(1, &one, &(int){0}, MPI_INT, &first));
    CHECK_OK(MPI_Type_indexed(1, &one, &behind, MPI_INT, &second));
    CHECK_OK(MPI_Type_commit(&first));
    CHECK_OK(MPI_Type_commit(&second));
    data[0] = rank + 1;
    CHECK_OK(MPI_Allgather(data, 1, first, data, 1, second, MPI_COMM_WORLD));
    CHECK_INT(data[behind], 1);
    CHECK_OK(MPI_Type_free(&first));
    CHECK_OK(MPI_Type_free(&second));
    return end();
}
