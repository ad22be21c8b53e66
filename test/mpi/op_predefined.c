/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5; env: OMPI_MCA_check_level=basic */
/* Every predefined operation on every type it allows gives what the C operators give. */
#include "check.h"
#include <complex.h>
#include <stdbool.h>

enum { N = 67 };

/* Values 1 .. 3 keep products and sums small enough to be exact in every type. */
static int value_of(int r, int i)
{
    return (r * 7 + i * 5) % 3 + (i % 4 == 3 ? 0 : 1);
}

#define FOLD(type, expression) \
    do { \
        for (int i = 0; i < N; i++) { \
            type a = (type) value_of(0, i); \
            for (int r = 1; r < size; r++) { \
                type b = (type) value_of(r, i); \
                a = (type) (expression); \
            } \
            ((type *) expected)[i] = a; \
        } \
    } while (0)

#define RUN(mpi_type, type, op, expression) \
    do { \
        type in[N], out[N], expected[N]; \
        for (int i = 0; i < N; i++) { \
            in[i] = (type) value_of(rank, i); \
            out[i] = (type) 9; \
        } \
        FOLD(type, expression); \
        CHECK_OK(MPI_Allreduce(in, out, N, mpi_type, op, MPI_COMM_WORLD)); \
        for (int i = 0; i < N; i++) \
            if (out[i] != expected[i]) \
                FAIL("%s on %s, element %d: got %g, expected %g", #op, #mpi_type, i, \
                     (double) creal((double complex) out[i]), \
                     (double) creal((double complex) expected[i])); \
    } while (0)

#define RUN_ORDERED(mpi_type, type) \
    do { \
        RUN(mpi_type, type, MPI_MAX, a > b ? a : b); \
        RUN(mpi_type, type, MPI_MIN, a < b ? a : b); \
    } while (0)

#define RUN_NUMBER(mpi_type, type) \
    do { \
        RUN(mpi_type, type, MPI_SUM, a + b); \
        RUN(mpi_type, type, MPI_PROD, a * b); \
    } while (0)

#define RUN_INTEGER(mpi_type, type) \
    do { \
        RUN_ORDERED(mpi_type, type); \
        RUN_NUMBER(mpi_type, type); \
        RUN(mpi_type, type, MPI_LAND, a && b); \
        RUN(mpi_type, type, MPI_LOR, a || b); \
        RUN(mpi_type, type, MPI_LXOR, !a != !b); \
        RUN(mpi_type, type, MPI_BAND, a & b); \
        RUN(mpi_type, type, MPI_BOR, a | b); \
        RUN(mpi_type, type, MPI_BXOR, a ^ b); \
    } while (0)

static void integers(void)
{
    RUN_INTEGER(MPI_INT, int);
    RUN_INTEGER(MPI_LONG, long);
    RUN_INTEGER(MPI_SHORT, short);
    RUN_INTEGER(MPI_UNSIGNED_SHORT, unsigned short);
    RUN_INTEGER(MPI_UNSIGNED, unsigned);
    RUN_INTEGER(MPI_UNSIGNED_LONG, unsigned long);
    RUN_INTEGER(MPI_LONG_LONG, long long);
    RUN_INTEGER(MPI_UNSIGNED_LONG_LONG, unsigned long long);
    RUN_INTEGER(MPI_SIGNED_CHAR, signed char);
    RUN_INTEGER(MPI_UNSIGNED_CHAR, unsigned char);
    RUN_INTEGER(MPI_INT8_T, int8_t);
    RUN_INTEGER(MPI_INT16_T, int16_t);
    RUN_INTEGER(MPI_INT32_T, int32_t);
    RUN_INTEGER(MPI_INT64_T, int64_t);
    RUN_INTEGER(MPI_UINT8_T, uint8_t);
    RUN_INTEGER(MPI_UINT16_T, uint16_t);
    RUN_INTEGER(MPI_UINT32_T, uint32_t);
    RUN_INTEGER(MPI_UINT64_T, uint64_t);
    RUN_INTEGER(MPI_AINT, MPI_Aint);
    RUN_INTEGER(MPI_OFFSET, MPI_Offset);
    RUN_INTEGER(MPI_COUNT, MPI_Count);
}

static void others(void)
{
    RUN_ORDERED(MPI_FLOAT, float);
    RUN_ORDERED(MPI_DOUBLE, double);
    RUN_ORDERED(MPI_LONG_DOUBLE, long double);
    RUN_NUMBER(MPI_FLOAT, float);
    RUN_NUMBER(MPI_DOUBLE, double);
    RUN_NUMBER(MPI_LONG_DOUBLE, long double);
    RUN_NUMBER(MPI_C_FLOAT_COMPLEX, float complex);
    RUN_NUMBER(MPI_C_DOUBLE_COMPLEX, double complex);
    RUN_NUMBER(MPI_C_LONG_DOUBLE_COMPLEX, long double complex);
    RUN(MPI_C_BOOL, bool, MPI_LAND, a && b);
    RUN(MPI_C_BOOL, bool, MPI_LOR, a || b);
    RUN(MPI_C_BOOL, bool, MPI_LXOR, a != b);
    RUN(MPI_BYTE, unsigned char, MPI_BAND, a & b);
    RUN(MPI_BYTE, unsigned char, MPI_BOR, a | b);
    RUN(MPI_BYTE, unsigned char, MPI_BXOR, a ^ b);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    integers();
    others();
    return end();
}
