/* SPDX-License-Identifier: BSD-3-Clause */

/* Procedures of Open MPI beyond the standard. */

#include "lib/mpi/procedures.h"

#include "lib/util/param.h"

#include <string.h>

/* Returns 1: buffers may be in device memory; 0: the parameter `accel` is none. */
int tern_mpi_query_cuda_support(void)
{
    return strcmp(tern_param_string("accel"), "none") != 0;
}
