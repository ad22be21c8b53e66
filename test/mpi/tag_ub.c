/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* Tags 0 and MPI_TAG_UB are carried exactly; anything outside is MPI_ERR_TAG. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    int *upper = NULL, flag = 0, x = 0;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag));
    CHECK_INT(flag, 1);
    CHECK(*upper >= 32767);
    int tags[] = { 0, 1, 255, 256, 32767, *upper - 1, *upper, *upper / 2 };
    for (int i = 0; i < 8; i++) {
        MPI_Status status;
        if (rank == 0) {
            CHECK_OK(MPI_Send(&i, 1, MPI_INT, 1, tags[i], MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Recv(&x, 1, MPI_INT, 0, i % 2 ? MPI_ANY_TAG : tags[i], MPI_COMM_WORLD,
                              &status));
            CHECK_INT(status.MPI_TAG, tags[i]);
            CHECK_INT(x, i);
        }
    }
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, 1, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, 1, -77, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TAG);
    if (*upper < 2147483647)
        CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, 1, *upper + 1, MPI_COMM_WORLD), MPI_ERR_TAG);
    return end();
}
