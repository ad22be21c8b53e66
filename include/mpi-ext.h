/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OMPI_MPIEXT_H
#define OMPI_MPIEXT_H

/* Extensions of Open MPI. OMPI_HAVE_MPI_EXT_xxx is defined only for extensions that work here.
 * mpi.h declares their procedures. */

#include <mpi.h>

#define OMPI_HAVE_MPI_EXT 1

/* MPIX_CUDA_AWARE_SUPPORT is 1 if this library accepts buffers in CUDA memory. */
#define OMPI_HAVE_MPI_EXT_CUDA 1
#define MPIX_CUDA_AWARE_SUPPORT 1

/* MPIX_Allgather_init and the like: the names of the persistent collectives before MPI-4.0. */
#define OMPI_HAVE_MPI_EXT_PCOLLREQ 1

/* OMPI_Affinity_str */
#define OMPI_HAVE_MPI_EXT_AFFINITY 1

#endif
