/* SPDX-License-Identifier: BSD-3-Clause */

/* Data access at explicit offsets and at the own pointer (MPI-4.1 sections 14.4.2 and 14.4.3). */

#include "lib/io/transfer.h"

#include "lib/mpi/procedures.h"

/* What the arguments of a procedure ask for. */
#define WISH(does_write, is_collective, begins)                                                    \
    (struct tern_transfer_wish)                                                                    \
    {                                                                                              \
        .file = fh, .writes = does_write, .collective = is_collective, .where = begins,            \
        .buf = (void *)buf, .count = count, .datatype = datatype                                   \
    }

int tern_mpi_file_read_at(struct tern_file *fh, MPI_Offset offset, void *buf, MPI_Count count,
                          struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(false, false, TERN_AT);
    wish.offset = offset;
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iread_at(struct tern_file *fh, MPI_Offset offset, void *buf, MPI_Count count,
                           struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = WISH(false, false, TERN_AT);
    wish.offset = offset;
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_read_at_all(struct tern_file *fh, MPI_Offset offset, void *buf, MPI_Count count,
                              struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(false, true, TERN_AT);
    wish.offset = offset;
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iread_at_all(struct tern_file *fh, MPI_Offset offset, void *buf, MPI_Count count,
                               struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = WISH(false, true, TERN_AT);
    wish.offset = offset;
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_write_at(struct tern_file *fh, MPI_Offset offset, const void *buf,
                           MPI_Count count, struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(true, false, TERN_AT);
    wish.offset = offset;
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iwrite_at(struct tern_file *fh, MPI_Offset offset, const void *buf,
                            MPI_Count count, struct tern_datatype *datatype,
                            struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = WISH(true, false, TERN_AT);
    wish.offset = offset;
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_write_at_all(struct tern_file *fh, MPI_Offset offset, const void *buf,
                               MPI_Count count, struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(true, true, TERN_AT);
    wish.offset = offset;
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iwrite_at_all(struct tern_file *fh, MPI_Offset offset, const void *buf,
                                MPI_Count count, struct tern_datatype *datatype,
                                struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = WISH(true, true, TERN_AT);
    wish.offset = offset;
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_read(struct tern_file *fh, void *buf, MPI_Count count,
                       struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(false, false, TERN_OWN);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iread(struct tern_file *fh, void *buf, MPI_Count count,
                        struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = WISH(false, false, TERN_OWN);
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_read_all(struct tern_file *fh, void *buf, MPI_Count count,
                           struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(false, true, TERN_OWN);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iread_all(struct tern_file *fh, void *buf, MPI_Count count,
                            struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = WISH(false, true, TERN_OWN);
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_write(struct tern_file *fh, const void *buf, MPI_Count count,
                        struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(true, false, TERN_OWN);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iwrite(struct tern_file *fh, const void *buf, MPI_Count count,
                         struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = WISH(true, false, TERN_OWN);
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_write_all(struct tern_file *fh, const void *buf, MPI_Count count,
                            struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = WISH(true, true, TERN_OWN);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iwrite_all(struct tern_file *fh, const void *buf, MPI_Count count,
                             struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = WISH(true, true, TERN_OWN);
    return tern_transfer_start(&wish, ret_request);
}
