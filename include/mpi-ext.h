/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OMPI_MPIEXT_H
#define OMPI_MPIEXT_H

/* Extensions of Open MPI. OMPI_HAVE_MPI_EXT_xxx is defined only for those that work here; their procedures, too, are
 * declared in mpi.h. */

#include <mpi.h>

#define OMPI_HAVE_MPI_EXT 1

/* Does this library take buffers in CUDA memory? */
#define OMPI_HAVE_MPI_EXT_CUDA 1
#define MPIX_CUDA_AWARE_SUPPORT 0

/* MPIX_Allgather_init and its kin: the persistent collectives' names before MPI-4.0 */
#define OMPI_HAVE_MPI_EXT_PCOLLREQ 1

/* OMPI_Affinity_str */
#define OMPI_HAVE_MPI_EXT_AFFINITY 1

#endif
