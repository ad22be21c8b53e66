/* SPDX-License-Identifier: BSD-3-Clause */

/* The Fortran procedures that are functions, or that C does not have. The generator makes their
 * Fortran names (hand_names.inc). */

#include "lib/fortran/glue.h"

TERN_GLUE double tern_f_mpi_wtime(void);
TERN_GLUE double tern_f_mpi_wtick(void);
TERN_GLUE MPI_Aint tern_f_mpi_aint_add(MPI_Aint *base, MPI_Aint *disp);
TERN_GLUE MPI_Aint tern_f_mpi_aint_diff(MPI_Aint *addr1, MPI_Aint *addr2);
TERN_GLUE void tern_f_mpi_pcontrol(MPI_Fint *level);
TERN_GLUE void tern_f_mpi_f_sync_reg(void *buffer);

double tern_f_mpi_wtime(void)
{
    return PMPI_Wtime();
}

double tern_f_mpi_wtick(void)
{
    return PMPI_Wtick();
}

MPI_Aint tern_f_mpi_aint_add(MPI_Aint *base, MPI_Aint *disp)
{
    return *base + *disp;
}

MPI_Aint tern_f_mpi_aint_diff(MPI_Aint *addr1, MPI_Aint *addr2)
{
    return *addr1 - *addr2;
}

void tern_f_mpi_pcontrol(MPI_Fint *level)
{
    PMPI_Pcontrol(*level);
}

/* Does nothing. Its purpose is that the compiler cannot know this. */
void tern_f_mpi_f_sync_reg(void *buffer)
{
    (void)buffer;
}

#include "hand_names.inc"
