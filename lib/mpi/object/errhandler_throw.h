/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ERRHANDLER_THROW_H
#define TERN_ERRHANDLER_THROW_H

/* MPI::ERRORS_THROW_EXCEPTIONS of the C++ bindings: a predefined error handler. libmpi_cxx sets its
 * functions when the program calls MPI::Init. They lie in the exported object, at the offsets that
 * they have in Open MPI. */

#include <mpi.h>

struct tern_errhandler_throw {
    char other[88];                     /* the handle */
    MPI_Comm_errhandler_function *comm; /* NULL if MPI::Init was not called */
    MPI_File_errhandler_function *file;
    MPI_Win_errhandler_function *win;
};

#endif
