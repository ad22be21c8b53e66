/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/procedures.h"

int tern_mpi_get_address(const void *location, MPI_Aint *address)
{
    *address = (MPI_Aint)location;
    return 0;
}

int tern_mpi_type_size(struct tern_datatype *datatype, MPI_Count *ret_size)
{
    *ret_size = datatype->type.size;
    return 0;
}

int tern_mpi_type_get_extent(struct tern_datatype *datatype, MPI_Count *ret_lb,
                             MPI_Count *ret_extent)
{
    *ret_lb = datatype->type.lb;
    *ret_extent = datatype->type.extent;
    return 0;
}

int tern_mpi_type_get_true_extent(struct tern_datatype *datatype, MPI_Count *ret_true_lb,
                                  MPI_Count *ret_true_extent)
{
    *ret_true_lb = datatype->type.true_lb;
    *ret_true_extent = datatype->type.true_extent;
    return 0;
}

int tern_mpi_type_extent(struct tern_datatype *datatype, MPI_Aint *extent)
{
    *extent = datatype->type.extent;
    return 0;
}

int tern_mpi_type_lb(struct tern_datatype *datatype, MPI_Aint *lb)
{
    *lb = datatype->type.lb;
    return 0;
}

int tern_mpi_type_ub(struct tern_datatype *datatype, MPI_Aint *ub)
{
    *ub = datatype->type.lb + datatype->type.extent;
    return 0;
}
