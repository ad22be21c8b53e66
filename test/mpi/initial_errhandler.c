/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; env: OMPI_MCA_mpi_initial_errhandler=mpi_errors_return; needs: Tern */
/* The initial error handler takes errors before MPI_Init and after MPI_Finalize, and is what
 * MPI_COMM_WORLD and MPI_COMM_SELF begin with. */
#include "check.h"

static void make_errors(void)
{
    MPI_Info info;
    int class, flag;
    char text[MPI_MAX_ERROR_STRING];
    CHECK_OK(MPI_Info_create(&info));
    CHECK_CLASS(MPI_Info_delete(info, "nobody"), MPI_ERR_INFO_NOKEY);
    CHECK_CLASS(MPI_Info_get_nkeys(info, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Info_get(MPI_INFO_NULL, "key", 9, text, &flag), MPI_ERR_INFO);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_CLASS(MPI_Error_class(-3, &class), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    MPI_Errhandler got;
    int x = 0;
    make_errors();
    start(&argc, &argv);
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    make_errors();
    CHECK_OK(MPI_Finalize());
    make_errors();
    return 0;
}
