/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Pack and MPI_Unpack. The packed form is the stream itself: all processes have the same
 * machine type. */
#include "lib/mpi/datatype.h"
#include "lib/mpi/procedures.h"
#include "lib/util/error.h"

/* Bytes of `count` elements, which must fit between `position` and `size`. */
static int check_fit(const struct tern_datatype *datatype, MPI_Count count, const char *size_name,
                     MPI_Count size, MPI_Count position, int64_t *ret_bytes)
{
    int64_t bytes;
    if (!datatype->type.committed)
        return tern_error(TERN_ERR_TYPE, "datatype was not committed (MPI_Type_commit)");
    if (count < 0)
        return tern_error(TERN_ERR_COUNT, "count is %lld; it may not be negative",
                          (long long)count);
    if (position < 0 || position > size)
        return tern_error(TERN_ERR_ARG, "position is %lld; expected 0 to %s, %lld",
                          (long long)position, size_name, (long long)size);
    if (__builtin_mul_overflow(datatype->type.size, count, &bytes) || bytes > size - position)
        return tern_error(TERN_ERR_TRUNCATE,
                          "%lld elements of %lld bytes at position %lld do not fit in %s, %lld",
                          (long long)count, (long long)datatype->type.size, (long long)position,
                          size_name, (long long)size);
    *ret_bytes = bytes;
    return 0;
}

int tern_mpi_pack(const void *inbuf, MPI_Count incount, struct tern_datatype *datatype,
                  void *outbuf, MPI_Count outsize, MPI_Count *position, struct tern_comm *comm)
{
    (void)comm;
    int64_t bytes;
    int error = check_fit(datatype, incount, "outsize", outsize, *position, &bytes);
    if (error || bytes == 0)
        return error;
    struct tern_cursor cursor;
    tern_cursor_init(&cursor, &datatype->type, inbuf, incount);
    tern_cursor_pack(&cursor, (char *)outbuf + *position, (size_t)bytes);
    *position += bytes;
    return 0;
}

int tern_mpi_unpack(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                    MPI_Count outcount, struct tern_datatype *datatype, struct tern_comm *comm)
{
    (void)comm;
    int64_t bytes;
    int error = check_fit(datatype, outcount, "insize", insize, *position, &bytes);
    if (error || bytes == 0)
        return error;
    struct tern_cursor cursor;
    tern_cursor_init(&cursor, &datatype->type, outbuf, outcount);
    tern_cursor_unpack(&cursor, (const char *)inbuf + *position, (size_t)bytes);
    *position += bytes;
    return 0;
}

int tern_mpi_pack_size(MPI_Count incount, struct tern_datatype *datatype, struct tern_comm *comm,
                       MPI_Count *ret_size)
{
    (void)comm;
    int64_t bytes;
    if (incount < 0)
        return tern_error(TERN_ERR_COUNT, "incount is %lld; it may not be negative",
                          (long long)incount);
    if (__builtin_mul_overflow(datatype->type.size, incount, &bytes))
        return tern_error(TERN_ERR_COUNT, "incount is %lld elements of %lld bytes, beyond 63 bits",
                          (long long)incount, (long long)datatype->type.size);
    *ret_size = bytes;
    return 0;
}
