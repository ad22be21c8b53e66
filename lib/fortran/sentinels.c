/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_BOTTOM and similar objects, for programs that do not define them in COMMON blocks. Programs
 * with `use mpi_f08` hold copies of these objects (COPY relocations), so the sizes must be Open
 * MPI's. Only the addresses mean anything. */

#include <mpi.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_, mpi_fortran_errcodes_ignore_, mpi_fortran_buffer_automatic_;
EXPORTED char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
EXPORTED MPI_Status mpi_fortran_status_ignore_, mpi_fortran_statuses_ignore_;
