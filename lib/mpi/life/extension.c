/* SPDX-License-Identifier: BSD-3-Clause */

/* Procedures of Open MPI beyond the standard. */

#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/life/raise.h"
#include "lib/mpi/object/running.h"
#include "lib/settings/param.h"

#include <string.h>

#include "lib/mpi/procedures.h"

/* Returns 1: buffers may be in device memory; 0: the parameter `accel` is none. */
int tern_mpi_query_cuda_support(void)
{
    return strcmp(tern_param_string("accel"), "none") != 0;
}

/* Open MPI's own name for MPI_Init_thread. Programs look for this symbol to tell Open MPI from
 * MPICH, whose handles have another size: NEURON with dlsym, PETSc with the linker. `again` permits
 * a call after MPI_Init. Returns an MPI error code. */
__attribute__((visibility("default"))) int ompi_mpi_init(int argc, char **argv, int required,
                                                         int *provided, bool again);
int ompi_mpi_init(int argc, char **argv, int required, int *provided, bool again)
{
    if (again && tern_world == TERN_WORLD_RUNNING) {
        *provided = tern_world_thread_level;
        return MPI_SUCCESS;
    }
    int rc = tern_mpi_init_thread(&argc, &argv, required, provided);
    return rc ? tern_raise_on(NULL, "ompi_mpi_init", rc) : MPI_SUCCESS;
}
