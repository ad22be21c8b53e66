/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; libs: -ldl */
/* Programs look for the symbol ompi_mpi_init to tell Open MPI from MPICH. It is there, and starts MPI. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <stdbool.h>

int main(int argc, char **argv)
{
    int (*init)(int, char **, int, int *, bool), provided = -1, sum, one = 1;
    *(void **)&init = dlsym(RTLD_DEFAULT, "ompi_mpi_init");
    CHECK(init != NULL);
    CHECK(dlsym(RTLD_DEFAULT, "MPID_Abort") == NULL); /* PETSc takes this one for MPICH's */
    CHECK_INT(init(argc, argv, MPI_THREAD_FUNNELED, &provided, false), MPI_SUCCESS);
    CHECK_INT(provided, MPI_THREAD_FUNNELED);
    CHECK_INT(init(argc, argv, MPI_THREAD_FUNNELED, &provided, true), MPI_SUCCESS);
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size);
    return end();
}
