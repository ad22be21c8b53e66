/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_BOTTOM and its kin for programs that do not bring them in COMMON blocks: `use mpi_f08`
 * programs take copies of these objects (COPY relocations), with the sizes that Open MPI gave them.
 * Only their addresses mean anything. */

#include <mpi.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_, mpi_fortran_errcodes_ignore_;
EXPORTED char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
EXPORTED MPI_Status mpi_fortran_status_ignore_, mpi_fortran_statuses_ignore_;
