/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ERRHANDLER_THROW_H
#define TERN_ERRHANDLER_THROW_H

/* MPI::ERRORS_THROW_EXCEPTIONS of the C++ bindings: a predefined error handler whose functions
 * libmpi_cxx sets when the program calls MPI::Init. They stand in the exported object, at the place
 * where Open MPI has them. */

#include <mpi.h>

struct tern_errhandler_throw {
    char other[88]; /* the handle */
    MPI_Comm_errhandler_function *comm; /* NULL: MPI::Init was not called */
    MPI_File_errhandler_function *file;
    MPI_Win_errhandler_function *win;
};

#endif
