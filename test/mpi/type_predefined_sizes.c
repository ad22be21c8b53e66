/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Every predefined C type has the size and extent of its C type. */
#include "check.h"
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#define ROW(mpi, c) { mpi, #mpi, sizeof(c), sizeof(c) }
/* A pair's size has no padding, its extent is the struct's. */
#define PAIR(mpi, c) { mpi, #mpi, sizeof(c) + sizeof(int), sizeof(struct { c a; int b; }) }

int main(int argc, char **argv)
{
    start(&argc, &argv);
    struct { MPI_Datatype type; const char *name; size_t size, extent; } rows[] = {
        ROW(MPI_CHAR, char), ROW(MPI_SIGNED_CHAR, char), ROW(MPI_UNSIGNED_CHAR, char),
        ROW(MPI_BYTE, char), ROW(MPI_WCHAR, wchar_t), ROW(MPI_SHORT, short), ROW(MPI_INT, int),
        ROW(MPI_LONG, long), ROW(MPI_LONG_LONG, long long), ROW(MPI_LONG_LONG_INT, long long),
        ROW(MPI_UNSIGNED_SHORT, short), ROW(MPI_UNSIGNED, int), ROW(MPI_UNSIGNED_LONG, long),
        ROW(MPI_UNSIGNED_LONG_LONG, long long), ROW(MPI_FLOAT, float), ROW(MPI_DOUBLE, double),
        ROW(MPI_LONG_DOUBLE, long double), ROW(MPI_C_BOOL, bool), ROW(MPI_INT8_T, int8_t),
        ROW(MPI_INT16_T, int16_t), ROW(MPI_INT32_T, int32_t), ROW(MPI_INT64_T, int64_t),
        ROW(MPI_UINT8_T, int8_t), ROW(MPI_UINT16_T, int16_t), ROW(MPI_UINT32_T, int32_t),
        ROW(MPI_UINT64_T, int64_t), ROW(MPI_AINT, MPI_Aint), ROW(MPI_COUNT, MPI_Count),
        ROW(MPI_OFFSET, MPI_Offset), ROW(MPI_C_COMPLEX, float complex),
        ROW(MPI_C_FLOAT_COMPLEX, float complex), ROW(MPI_C_DOUBLE_COMPLEX, double complex),
        ROW(MPI_C_LONG_DOUBLE_COMPLEX, long double complex), ROW(MPI_PACKED, char),
        PAIR(MPI_FLOAT_INT, float), PAIR(MPI_DOUBLE_INT, double), PAIR(MPI_LONG_INT, long),
        PAIR(MPI_SHORT_INT, short), PAIR(MPI_2INT, int), PAIR(MPI_LONG_DOUBLE_INT, long double),
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        MPI_Aint lb, extent;
        MPI_Count size_x, lb_x, extent_x;
        int bytes, count;
        CHECK_OK(MPI_Type_size(rows[i].type, &bytes));
        CHECK_OK(MPI_Type_get_extent(rows[i].type, &lb, &extent));
        if ((size_t) bytes != rows[i].size || lb != 0 || (size_t) extent != rows[i].extent)
            FAIL("%s: got size %d, lb %ld, extent %ld, expected %zu, 0, %zu", rows[i].name, bytes,
                 (long) lb, (long) extent, rows[i].size, rows[i].extent);
        CHECK_OK(MPI_Type_size_x(rows[i].type, &size_x));
        CHECK_OK(MPI_Type_get_extent_x(rows[i].type, &lb_x, &extent_x));
        CHECK_INT(size_x, bytes);
        CHECK_INT(extent_x, extent);
        /* Predefined types are committed, and committing them again does no harm. */
        CHECK_OK(MPI_Type_commit(&rows[i].type));
        char a[64] = "abcdefghijklmnopqrstuvwxyzabcdef", b[64] = "";
        MPI_Status status;
        CHECK_OK(MPI_Sendrecv(a, 1, rows[i].type, 0, 1, b, 1, rows[i].type, 0, 1, MPI_COMM_SELF,
                              &status));
        CHECK_OK(MPI_Get_count(&status, rows[i].type, &count));
        CHECK_INT(count, 1);
        if (rows[i].size == rows[i].extent)
            CHECK_BYTES(b, a, rows[i].size);
    }
    return end();
}
