/* SPDX-License-Identifier: BSD-3-Clause */

/* Data access at explicit offsets and at the own pointer (MPI-4.1 sections 14.4.2 and 14.4.3). */

#include "lib/io/transfer.h"

#include "lib/mpi/procedures.h"

int tern_mpi_file_read_at(struct tern_file *fh, MPI_Offset offset, void *buf, MPI_Count count,
                          struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH(false, TERN_AT);
    wish.offset = offset;
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iread_at(struct tern_file *fh, MPI_Offset offset, void *buf, MPI_Count count,
                           struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = TERN_WISH(false, TERN_AT);
    wish.offset = offset;
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_read_at_all(int fault, struct tern_file *fh, MPI_Offset offset, void *buf,
                              MPI_Count count, struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(false, TERN_AT);
    wish.offset = offset;
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iread_at_all(int fault, struct tern_file *fh, MPI_Offset offset, void *buf,
                               MPI_Count count, struct tern_datatype *datatype,
                               struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(false, TERN_AT);
    wish.offset = offset;
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_write_at(struct tern_file *fh, MPI_Offset offset, const void *buf,
                           MPI_Count count, struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH(true, TERN_AT);
    wish.offset = offset;
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iwrite_at(struct tern_file *fh, MPI_Offset offset, const void *buf,
                            MPI_Count count, struct tern_datatype *datatype,
                            struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = TERN_WISH(true, TERN_AT);
    wish.offset = offset;
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_write_at_all(int fault, struct tern_file *fh, MPI_Offset offset, const void *buf,
                               MPI_Count count, struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(true, TERN_AT);
    wish.offset = offset;
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iwrite_at_all(int fault, struct tern_file *fh, MPI_Offset offset, const void *buf,
                                MPI_Count count, struct tern_datatype *datatype,
                                struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(true, TERN_AT);
    wish.offset = offset;
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_read(struct tern_file *fh, void *buf, MPI_Count count,
                       struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH(false, TERN_OWN);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iread(struct tern_file *fh, void *buf, MPI_Count count,
                        struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = TERN_WISH(false, TERN_OWN);
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_read_all(int fault, struct tern_file *fh, void *buf, MPI_Count count,
                           struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(false, TERN_OWN);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iread_all(int fault, struct tern_file *fh, void *buf, MPI_Count count,
                            struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(false, TERN_OWN);
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_write(struct tern_file *fh, const void *buf, MPI_Count count,
                        struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH(true, TERN_OWN);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iwrite(struct tern_file *fh, const void *buf, MPI_Count count,
                         struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = TERN_WISH(true, TERN_OWN);
    return tern_transfer_start(&wish, ret_request);
}

int tern_mpi_file_write_all(int fault, struct tern_file *fh, const void *buf, MPI_Count count,
                            struct tern_datatype *datatype, MPI_Status *status)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(true, TERN_OWN);
    return tern_transfer_run(&wish, status);
}

int tern_mpi_file_iwrite_all(int fault, struct tern_file *fh, const void *buf, MPI_Count count,
                             struct tern_datatype *datatype, struct tern_request **ret_request)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(true, TERN_OWN);
    return tern_transfer_start(&wish, ret_request);
}
