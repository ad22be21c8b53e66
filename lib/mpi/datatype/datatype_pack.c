/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_Pack and MPI_Unpack (MPI-4.1 sections 5.2 and 5.3). The packed form is the packed stream
 * itself, because all processes run on one machine type. The external form is made from the stream,
 * piece by piece, by converting its elements. The signature gives the order of the elements.
 */
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/datatype_external.h"
#include "lib/mpi/datatype/datatype_signature.h"
#include "lib/mpi/procedures.h"
#include "lib/type/external.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Computes the bytes of `count` elements of `each` bytes. Checks that they fit between `position`
 * and `size`. */
static int check_fit(const struct tern_datatype *datatype, MPI_Count count, int64_t each,
                     const char *size_name, MPI_Count size, MPI_Count position, int64_t *ret_bytes)
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
    if (__builtin_mul_overflow(each, count, &bytes) || bytes > size - position)
        return tern_error(TERN_ERR_TRUNCATE,
                          "%lld elements of %lld bytes at position %lld do not fit in %s, %lld",
                          (long long)count, (long long)each, (long long)position, size_name,
                          (long long)size);
    *ret_bytes = bytes;
    return 0;
}

int tern_mpi_pack(const void *inbuf, MPI_Count incount, struct tern_datatype *datatype,
                  void *outbuf, MPI_Count outsize, MPI_Count *position, struct tern_comm *comm)
{
    (void)comm;
    int64_t bytes;
    int error =
        check_fit(datatype, incount, datatype->type.size, "outsize", outsize, *position, &bytes);
    if (error || bytes == 0)
        return error;
    int64_t copied = tern_type_copy((char *)outbuf + *position, bytes, &tern_type_bytes, inbuf,
                                    incount, &datatype->type);
    if (copied < 0)
        return (int)copied;
    *position += bytes;
    return 0;
}

int tern_mpi_unpack(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                    MPI_Count outcount, struct tern_datatype *datatype, struct tern_comm *comm)
{
    (void)comm;
    int64_t bytes;
    int error =
        check_fit(datatype, outcount, datatype->type.size, "insize", insize, *position, &bytes);
    if (error || bytes == 0)
        return error;
    int64_t copied = tern_type_copy(outbuf, outcount, &datatype->type,
                                    (const char *)inbuf + *position, bytes, &tern_type_bytes);
    if (copied < 0)
        return (int)copied;
    *position += bytes;
    return 0;
}

static int measure(MPI_Count incount, int64_t each, MPI_Count *ret_size)
{
    if (incount < 0)
        return tern_error(TERN_ERR_COUNT, "incount is %lld; it may not be negative",
                          (long long)incount);
    if (__builtin_mul_overflow(each, incount, ret_size))
        return tern_error(TERN_ERR_COUNT, "incount is %lld elements of %lld bytes, together more "
                                          "than 2^63 - 1 bytes",
                          (long long)incount, (long long)each);
    return 0;
}

int tern_mpi_pack_size(MPI_Count incount, struct tern_datatype *datatype, struct tern_comm *comm,
                       MPI_Count *ret_size)
{
    (void)comm;
    return measure(incount, datatype->type.size, ret_size);
}

/* ---- external32 ---- */

static int check_representation(const char *datarep)
{
    if (strcmp(datarep, "external32") == 0)
        return 0;
    return tern_error(TERN_ERR_ARG, "datarep is \"%.40s\"; expected \"external32\"", datarep);
}

static int64_t external_size(const struct tern_datatype *datatype)
{
    return datatype->type.size - datatype->type.narrowed;
}

/* A piece of the packed stream, on its way between the datatype and its external form. */
struct piece {
    int64_t at, end; /* bytes[at..end-1] are still to be converted */
    bool lossy;      /* a number did not fit its external form */
    char bytes[8192];
};

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Appends bytes of the stream, as many as the piece has room for. */
static void fill_piece(struct piece *piece, struct tern_cursor *cursor)
{
    memmove(piece->bytes, piece->bytes + piece->at, (size_t)(piece->end - piece->at));
    piece->end -= piece->at;
    piece->at = 0;
    piece->end += (int64_t)tern_cursor_pack(cursor, piece->bytes + piece->end,
                                            sizeof piece->bytes - (size_t)piece->end);
}

static void drain_piece(struct piece *piece, struct tern_cursor *cursor)
{
    tern_cursor_unpack(cursor, piece->bytes, (size_t)piece->end);
    piece->end = 0;
}

/* Converts one run of elements of the stream, to or from `external`. */
static void convert_run(bool pack, struct tern_signature_run run, struct piece *piece,
                        struct tern_cursor *cursor, char *external)
{
    int64_t size = tern_external_packed_size(run.basic), step = tern_external_size(run.basic);
    for (int64_t left = run.count, count; left > 0; left -= count, external += count * step) {
        if (pack) {
            if (piece->end - piece->at < size)
                fill_piece(piece, cursor);
            count = smaller(left, (piece->end - piece->at) / size);
            piece->lossy |= !tern_external_fits(run.basic, piece->bytes + piece->at, count);
            tern_external_write(run.basic, piece->bytes + piece->at, external, count);
            piece->at += count * size;
        } else {
            if ((int64_t)sizeof piece->bytes - piece->end < size)
                drain_piece(piece, cursor);
            count = smaller(left, ((int64_t)sizeof piece->bytes - piece->end) / size);
            tern_external_read(run.basic, external, piece->bytes + piece->end, count);
            piece->end += count * size;
        }
    }
}

/* Converts the elements of a buffer, to or from `external`, which has room for `room` bytes. Stops
 * before an element that does not fit. Sets *ret_done to the bytes of the packed stream that were
 * converted, and *ret_lossy to true if a number did not fit its external form. */
static int convert(bool pack, void *buf, int64_t count, const struct tern_datatype *datatype,
                   char *external, int64_t room, int64_t *ret_done, bool *ret_lossy)
{
    struct tern_cursor cursor;
    struct tern_signature signature;
    struct tern_signature_run run;
    struct piece piece;
    piece.at = piece.end = 0;
    piece.lossy = false;
    *ret_done = 0;
    tern_cursor_init(&cursor, &datatype->type, buf, count);
    int error = tern_signature_start(&signature, datatype, count);
    while (!error && !(error = tern_signature_next(&signature, &run)) &&
           run.basic != TERN_BASIC_NONE) {
        int64_t step = tern_external_size(run.basic), wanted = run.count;
        run.count = smaller(wanted, room / step);
        convert_run(pack, run, &piece, &cursor, external);
        *ret_done += run.count * tern_external_packed_size(run.basic);
        external += run.count * step;
        room -= run.count * step;
        if (run.count < wanted)
            break;
    }
    tern_signature_drop(&signature);
    if (!pack)
        drain_piece(&piece, &cursor);
    *ret_lossy = piece.lossy;
    return error ? error : cursor.error;
}

int tern_external_from(const void *buf, int64_t count, const struct tern_datatype *datatype,
                       char *external, bool *ret_lossy)
{
    int64_t done;
    return convert(true, (void *)buf, count, datatype, external, INT64_MAX, &done, ret_lossy);
}

int tern_external_to(void *buf, int64_t count, const struct tern_datatype *datatype,
                     const char *external, int64_t bytes, int64_t *ret_done)
{
    bool lossy;
    return convert(false, buf, count, datatype, (char *)external, bytes, ret_done, &lossy);
}

/* The external form of a packed buffer, in memory that the processor may touch. */
struct packed {
    char *bytes;
    char *copy; /* NULL: the packed buffer itself */
};

/* Returns 0 or TERN_ERR_*. If the buffer is in device memory, its copy is allocated. */
static int open_packed(struct packed *packed, const void *buffer, int64_t bytes, bool filled)
{
    packed->copy = NULL;
    packed->bytes = (char *)buffer;
    if (bytes == 0 || !tern_accel_holds(buffer))
        return 0;
    packed->bytes = packed->copy = malloc((size_t)bytes);
    if (!packed->copy)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a copy of %lld bytes of device memory",
                          (long long)bytes);
    return filled ? tern_accel_copy(packed->copy, buffer, (size_t)bytes) : 0;
}

/* Checks that count * size, the length of the stream, fits 63 bits. Its external form may be half
 * as long. */
static int check_stream(const struct tern_datatype *datatype, MPI_Count count)
{
    int64_t length;
    if (__builtin_mul_overflow(datatype->type.size, count, &length))
        return tern_error(TERN_ERR_COUNT, "%lld elements of %lld bytes are more than 2^63 - 1 "
                                          "bytes",
                          (long long)count, (long long)datatype->type.size);
    return 0;
}

int tern_mpi_pack_external(const char *datarep, const void *inbuf, MPI_Count incount,
                           struct tern_datatype *datatype, void *outbuf, MPI_Count outsize,
                           MPI_Count *position)
{
    int64_t bytes;
    bool lossy; /* as the standard advises, upper bytes are left out */
    int error = check_representation(datarep);
    if (!error)
        error = check_fit(datatype, incount, external_size(datatype), "outsize", outsize, *position,
                          &bytes);
    if (!error)
        error = check_stream(datatype, incount);
    if (error)
        return error;
    struct packed packed;
    char *at = (char *)outbuf + *position;
    error = open_packed(&packed, at, bytes, false);
    if (!error)
        error = tern_external_from(inbuf, incount, datatype, packed.bytes, &lossy);
    if (!error && packed.copy)
        error = tern_accel_copy(at, packed.copy, (size_t)bytes);
    free(packed.copy);
    if (!error)
        *position += bytes;
    return error;
}

int tern_mpi_unpack_external(const char *datarep, const void *inbuf, MPI_Count insize,
                             MPI_Count *position, void *outbuf, MPI_Count outcount,
                             struct tern_datatype *datatype)
{
    int64_t bytes, done;
    int error = check_representation(datarep);
    if (!error)
        error = check_fit(datatype, outcount, external_size(datatype), "insize", insize, *position,
                          &bytes);
    if (!error)
        error = check_stream(datatype, outcount);
    if (error)
        return error;
    struct packed packed;
    error = open_packed(&packed, (const char *)inbuf + *position, bytes, true);
    if (!error)
        error = tern_external_to(outbuf, outcount, datatype, packed.bytes, bytes, &done);
    free(packed.copy);
    if (!error)
        *position += bytes;
    return error;
}

int tern_mpi_pack_external_size(const char *datarep, MPI_Count incount,
                                struct tern_datatype *datatype, MPI_Count *ret_size)
{
    int error = check_representation(datarep);
    return error ? error : measure(incount, external_size(datatype), ret_size);
}
