/* SPDX-License-Identifier: BSD-3-Clause */

/* Split collective data access (MPI-4.1 section 14.4.5). */

#include "lib/io/transfer.h"

#include "lib/mpi/procedures.h"

int tern_mpi_file_read_at_all_begin(int fault, struct tern_file *fh, MPI_Offset offset, void *buf,
                                    MPI_Count count, struct tern_datatype *datatype)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(false, TERN_AT);
    wish.offset = offset;
    return tern_transfer_begin(&wish);
}

int tern_mpi_file_read_at_all_end(struct tern_file *fh, void *buf, MPI_Status *status)
{
    (void)buf;
    const struct tern_transfer_wish wish = {
        .file = fh, .writes = false, .collective = true, .where = TERN_AT};
    return tern_transfer_end(&wish, status);
}

int tern_mpi_file_write_at_all_begin(int fault, struct tern_file *fh, MPI_Offset offset,
                                     const void *buf, MPI_Count count,
                                     struct tern_datatype *datatype)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(true, TERN_AT);
    wish.offset = offset;
    return tern_transfer_begin(&wish);
}

int tern_mpi_file_write_at_all_end(struct tern_file *fh, const void *buf, MPI_Status *status)
{
    (void)buf;
    const struct tern_transfer_wish wish = {
        .file = fh, .writes = true, .collective = true, .where = TERN_AT};
    return tern_transfer_end(&wish, status);
}

int tern_mpi_file_read_all_begin(int fault, struct tern_file *fh, void *buf, MPI_Count count,
                                 struct tern_datatype *datatype)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(false, TERN_OWN);
    return tern_transfer_begin(&wish);
}

int tern_mpi_file_read_all_end(struct tern_file *fh, void *buf, MPI_Status *status)
{
    (void)buf;
    const struct tern_transfer_wish wish = {
        .file = fh, .writes = false, .collective = true, .where = TERN_OWN};
    return tern_transfer_end(&wish, status);
}

int tern_mpi_file_write_all_begin(int fault, struct tern_file *fh, const void *buf, MPI_Count count,
                                  struct tern_datatype *datatype)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(true, TERN_OWN);
    return tern_transfer_begin(&wish);
}

int tern_mpi_file_write_all_end(struct tern_file *fh, const void *buf, MPI_Status *status)
{
    (void)buf;
    const struct tern_transfer_wish wish = {
        .file = fh, .writes = true, .collective = true, .where = TERN_OWN};
    return tern_transfer_end(&wish, status);
}

int tern_mpi_file_read_ordered_begin(int fault, struct tern_file *fh, void *buf, MPI_Count count,
                                     struct tern_datatype *datatype)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(false, TERN_SHARED);
    return tern_transfer_begin(&wish);
}

int tern_mpi_file_read_ordered_end(struct tern_file *fh, void *buf, MPI_Status *status)
{
    (void)buf;
    const struct tern_transfer_wish wish = {
        .file = fh, .writes = false, .collective = true, .where = TERN_SHARED};
    return tern_transfer_end(&wish, status);
}

int tern_mpi_file_write_ordered_begin(int fault, struct tern_file *fh, const void *buf,
                                      MPI_Count count, struct tern_datatype *datatype)
{
    struct tern_transfer_wish wish = TERN_WISH_OF_ALL(true, TERN_SHARED);
    return tern_transfer_begin(&wish);
}

int tern_mpi_file_write_ordered_end(struct tern_file *fh, const void *buf, MPI_Status *status)
{
    (void)buf;
    const struct tern_transfer_wish wish = {
        .file = fh, .writes = true, .collective = true, .where = TERN_SHARED};
    return tern_transfer_end(&wish, status);
}
