/* SPDX-License-Identifier: BSD-3-Clause */

/* Data access at the common pointer (MPI-4.1 section 14.4.4). */

#include "lib/io/transfer.h"

#include "lib/mpi/procedures.h"

int tern_mpi_file_read_shared(struct tern_file *fh, void *buf, MPI_Count count,
                              struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH(false, TERN_SHARED);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iread_shared(struct tern_file *fh, void *buf, MPI_Count count,
                               struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = TERN_WISH(false, TERN_SHARED);
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_read_ordered(int fault, struct tern_file *fh, void *buf, MPI_Count count,
                               struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(false, TERN_SHARED);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_write_shared(struct tern_file *fh, const void *buf, MPI_Count count,
                               struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH(true, TERN_SHARED);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iwrite_shared(struct tern_file *fh, const void *buf, MPI_Count count,
                                struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = TERN_WISH(true, TERN_SHARED);
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_write_ordered(int fault, struct tern_file *fh, const void *buf, MPI_Count count,
                                struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(true, TERN_SHARED);
    return tern_transfer_run(&wish, status);
}
