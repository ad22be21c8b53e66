/* SPDX-License-Identifier: BSD-3-Clause */

/* Fields of a status that have procedures of their own (MPI-4.1 sections 3.8.4 and 13.3). */

#include "lib/mpi/request.h"

#include "lib/mpi/procedures.h"

int tern_mpi_test_cancelled(const MPI_Status *status, int *flag)
{
    *flag = status->_cancelled != 0;
    return 0;
}

int tern_mpi_status_set_cancelled(MPI_Status *status, int flag)
{
    status->_cancelled = flag != 0;
    return 0;
}
