/* SPDX-License-Identifier: BSD-3-Clause */

/* Procedures of Open MPI beyond the standard. */

#include "lib/mpi/procedures.h"

/* Returns 0: buffers in device memory are not supported yet, and programs that ask must learn
 * that. */
int tern_mpi_query_cuda_support(void)
{
    return 0;
}
