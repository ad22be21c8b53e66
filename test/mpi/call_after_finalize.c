/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; exit: 1; output: MPI_Barrier was called after MPI_Finalize */
/* Communicating after MPI_Finalize ends the program with a message that names the procedure. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    _exit(0);
}
