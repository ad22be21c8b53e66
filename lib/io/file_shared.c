/* SPDX-License-Identifier: BSD-3-Clause */

/* Data access at the common pointer (MPI-4.1 section 14.4.4). */

#include "lib/io/transfer.h"

#include "lib/mpi/procedures.h"

/* What the arguments of a procedure ask for. */
#define WISH(does_write, is_collective, begins)                                                    \
    (struct tern_transfer_wish)                                                                    \
    {                                                                                              \
        .file = fh, .writes = does_write, .collective = is_collective, .where = begins,            \
        .buf = (void *)buf, .count = count, .datatype = datatype                                   \
    }

int tern_mpi_file_read_shared(struct tern_file *fh, void *buf, MPI_Count count,
                              struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(false, false, TERN_SHARED);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iread_shared(struct tern_file *fh, void *buf, MPI_Count count,
                               struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = WISH(false, false, TERN_SHARED);
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_read_ordered(struct tern_file *fh, void *buf, MPI_Count count,
                               struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(false, true, TERN_SHARED);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_write_shared(struct tern_file *fh, const void *buf, MPI_Count count,
                               struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(true, false, TERN_SHARED);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iwrite_shared(struct tern_file *fh, const void *buf, MPI_Count count,
                                struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = WISH(true, false, TERN_SHARED);
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_write_ordered(struct tern_file *fh, const void *buf, MPI_Count count,
                                struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(true, true, TERN_SHARED);
    return tern_transfer_run(&wish, status);
}
