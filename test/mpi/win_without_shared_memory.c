/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_btl=tcp,self */
/* Ranks that share no memory: MPI_Win_allocate_shared says so and what to do, and MPI_Win_allocate
 * works all the same. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long *memory, other = 1 - rank, value = 10 + rank;
    MPI_Win win;
    return_errors(MPI_COMM_WORLD);
    char text[MPI_MAX_ERROR_STRING];
    int length;
    int code = MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    CHECK_CLASS(code, MPI_ERR_RMA_SHARED);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strstr(text, "the parameter btl leaves out shm"));
    CHECK(win == MPI_WIN_NULL);
    CHECK_OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_LONG, (int)other, 0, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_INT(*memory, 10 + other);
    CHECK_OK(MPI_Win_free(&win));
    return end();
}
