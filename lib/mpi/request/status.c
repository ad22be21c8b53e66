/* SPDX-License-Identifier: BSD-3-Clause */

/* Fields of a status that have their own procedures (MPI-4.1 sections 3.2.5, 3.8.4 and 13.3). */

#include "lib/mpi/request/request_object.h"

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

int tern_mpi_status_get_source(const MPI_Status *status, int *source)
{
    *source = status->MPI_SOURCE;
    return 0;
}

int tern_mpi_status_get_tag(const MPI_Status *status, int *tag)
{
    *tag = status->MPI_TAG;
    return 0;
}

int tern_mpi_status_get_error(const MPI_Status *status, int *err)
{
    *err = status->MPI_ERROR;
    return 0;
}

int tern_mpi_status_set_source(MPI_Status *status, int source)
{
    status->MPI_SOURCE = source;
    return 0;
}

int tern_mpi_status_set_tag(MPI_Status *status, int tag)
{
    status->MPI_TAG = tag;
    return 0;
}

int tern_mpi_status_set_error(MPI_Status *status, int err)
{
    status->MPI_ERROR = err;
    return 0;
}
