/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DATATYPE_NAMED_H
#define TERN_DATATYPE_NAMED_H

/*
 * The predefined datatypes, one line each: X(symbol, name, layout). The exported handle is
 * ompi_mpi_SYMBOL and its state is tern_datatype_SYMBOL. Fortran's default kinds are those of
 * gfortran without options: INTEGER, REAL and LOGICAL have 4 bytes, and REAL*16 is binary128.
 *
 * MPI_INTEGER16 and MPI_REAL2, which gfortran for x86-64 does not offer to MPI programs, have size
 * 0, as in Open MPI. These two and the bounds MPI_LB and MPI_UB are never committed, because no
 * message can be made of them.
 */

#include "lib/mpi/datatype/datatype.h"
#include "lib/type/basic.h"

#include <complex.h>
#include <wchar.h>

/* The layout of a C structure of a value and an index, with no gap between the two. */
#define TERN_PAIR(class_, value, index, less)                                                      \
    TERN_TYPE_RUN(class_, sizeof(value) + sizeof(index), sizeof(struct {                           \
                      value v;                                                                     \
                      index i;                                                                     \
                  }),                                                                              \
                  _Alignof(value), 2, less)
/* The layout of two elements of one C type: Fortran's pairs. */
#define TERN_TWICE(class_, ctype)                                                                  \
    TERN_TYPE_RUN(class_, 2 * sizeof(ctype), 2 * sizeof(ctype), _Alignof(ctype), 2, 0)
#define TERN_SHORT_INT                                                                             \
    {                                                                                              \
        .size = 6, .extent = 8, .true_extent = 8, .elements = 2, .alignment = 4,                   \
        .basic = TERN_BASIC_SHORT_INT, .committed = true, .program = &tern_program_short_int       \
    }
#define TERN_ABSENT                                                                                \
    {                                                                                              \
        .alignment = 1, .gapless = true, .contiguous = true                                        \
    }
#define TERN_MARK_LB                                                                               \
    {                                                                                              \
        .alignment = 1, .gapless = true, .contiguous = true, .lb_marked = true                     \
    }
#define TERN_MARK_UB                                                                               \
    {                                                                                              \
        .alignment = 1, .gapless = true, .contiguous = true, .ub_marked = true                     \
    }

#define TERN_DATATYPES(X)                                                                          \
    X(byte, "MPI_BYTE", TERN_TYPE_OF(TERN_BASIC_BYTE, char))                                       \
    X(packed, "MPI_PACKED", TERN_TYPE_OF(TERN_BASIC_PACKED, char))                                 \
    X(lb, "MPI_LB", TERN_MARK_LB)                                                                  \
    X(ub, "MPI_UB", TERN_MARK_UB)                                                                  \
    X(char, "MPI_CHAR", TERN_TYPE_OF(TERN_BASIC_CHARACTER, char))                                  \
    X(signed_char, "MPI_SIGNED_CHAR", TERN_TYPE_OF(TERN_BASIC_INT8, signed char))                  \
    X(unsigned_char, "MPI_UNSIGNED_CHAR", TERN_TYPE_OF(TERN_BASIC_UINT8, unsigned char))           \
    X(wchar, "MPI_WCHAR", TERN_TYPE_NARROWED(TERN_BASIC_WCHAR, wchar_t, 2))                        \
    X(short, "MPI_SHORT", TERN_TYPE_OF(TERN_BASIC_INT16, short))                                   \
    X(unsigned_short, "MPI_UNSIGNED_SHORT", TERN_TYPE_OF(TERN_BASIC_UINT16, short))                \
    X(int, "MPI_INT", TERN_TYPE_OF(TERN_BASIC_INT32, int))                                         \
    X(unsigned, "MPI_UNSIGNED", TERN_TYPE_OF(TERN_BASIC_UINT32, int))                              \
    X(long, "MPI_LONG", TERN_TYPE_NARROWED(TERN_BASIC_LONG, long, 4))                              \
    X(unsigned_long, "MPI_UNSIGNED_LONG", TERN_TYPE_NARROWED(TERN_BASIC_UNSIGNED_LONG, long, 4))   \
    X(long_long_int, "MPI_LONG_LONG_INT", TERN_TYPE_OF(TERN_BASIC_INT64, long long))               \
    X(unsigned_long_long, "MPI_UNSIGNED_LONG_LONG", TERN_TYPE_OF(TERN_BASIC_UINT64, long long))    \
    X(int8_t, "MPI_INT8_T", TERN_TYPE_OF(TERN_BASIC_INT8, int8_t))                                 \
    X(uint8_t, "MPI_UINT8_T", TERN_TYPE_OF(TERN_BASIC_UINT8, uint8_t))                             \
    X(int16_t, "MPI_INT16_T", TERN_TYPE_OF(TERN_BASIC_INT16, int16_t))                             \
    X(uint16_t, "MPI_UINT16_T", TERN_TYPE_OF(TERN_BASIC_UINT16, uint16_t))                         \
    X(int32_t, "MPI_INT32_T", TERN_TYPE_OF(TERN_BASIC_INT32, int32_t))                             \
    X(uint32_t, "MPI_UINT32_T", TERN_TYPE_OF(TERN_BASIC_UINT32, uint32_t))                         \
    X(int64_t, "MPI_INT64_T", TERN_TYPE_OF(TERN_BASIC_INT64, int64_t))                             \
    X(uint64_t, "MPI_UINT64_T", TERN_TYPE_OF(TERN_BASIC_UINT64, uint64_t))                         \
    X(aint, "MPI_AINT", TERN_TYPE_OF(TERN_BASIC_INT64, int64_t))                                   \
    X(offset, "MPI_OFFSET", TERN_TYPE_OF(TERN_BASIC_INT64, int64_t))                               \
    X(count, "MPI_COUNT", TERN_TYPE_OF(TERN_BASIC_INT64, int64_t))                                 \
    X(float, "MPI_FLOAT", TERN_TYPE_OF(TERN_BASIC_FLOAT, float))                                   \
    X(double, "MPI_DOUBLE", TERN_TYPE_OF(TERN_BASIC_DOUBLE, double))                               \
    X(long_double, "MPI_LONG_DOUBLE", TERN_TYPE_OF(TERN_BASIC_LONG_DOUBLE, long double))           \
    X(c_bool, "MPI_C_BOOL", TERN_TYPE_OF(TERN_BASIC_LOGICAL8, bool))                               \
    X(c_float_complex, "MPI_C_COMPLEX", TERN_TYPE_OF(TERN_BASIC_FLOAT_COMPLEX, float complex))     \
    X(c_double_complex, "MPI_C_DOUBLE_COMPLEX",                                                    \
      TERN_TYPE_OF(TERN_BASIC_DOUBLE_COMPLEX, double complex))                                     \
    X(c_long_double_complex, "MPI_C_LONG_DOUBLE_COMPLEX",                                          \
      TERN_TYPE_OF(TERN_BASIC_LONG_DOUBLE_COMPLEX, long double complex))                           \
    X(cxx_bool, "MPI_CXX_BOOL", TERN_TYPE_OF(TERN_BASIC_LOGICAL8, bool))                           \
    X(cxx_cplex, "MPI_CXX_FLOAT_COMPLEX", TERN_TYPE_OF(TERN_BASIC_FLOAT_COMPLEX, float complex))   \
    X(cxx_dblcplex, "MPI_CXX_DOUBLE_COMPLEX",                                                      \
      TERN_TYPE_OF(TERN_BASIC_DOUBLE_COMPLEX, double complex))                                     \
    X(cxx_ldblcplex, "MPI_CXX_LONG_DOUBLE_COMPLEX",                                                \
      TERN_TYPE_OF(TERN_BASIC_LONG_DOUBLE_COMPLEX, long double complex))                           \
    X(ldblcplex, "MPI_LONG_DOUBLE_COMPLEX",                                                        \
      TERN_TYPE_OF(TERN_BASIC_LONG_DOUBLE_COMPLEX, long double complex))                           \
    X(float_int, "MPI_FLOAT_INT", TERN_PAIR(TERN_BASIC_FLOAT_INT, float, int, 0))                  \
    X(double_int, "MPI_DOUBLE_INT", TERN_PAIR(TERN_BASIC_DOUBLE_INT, double, int, 0))              \
    X(longdbl_int, "MPI_LONG_DOUBLE_INT",                                                          \
      TERN_PAIR(TERN_BASIC_LONG_DOUBLE_INT, long double, int, 0))                                  \
    X(long_int, "MPI_LONG_INT", TERN_PAIR(TERN_BASIC_LONG_INT, long, int, 4))                      \
    X(short_int, "MPI_SHORT_INT", TERN_SHORT_INT)                                                  \
    X(2int, "MPI_2INT", TERN_TWICE(TERN_BASIC_2INT, int))                                          \
    X(character, "MPI_CHARACTER", TERN_TYPE_OF(TERN_BASIC_CHARACTER, char))                        \
    X(logical, "MPI_LOGICAL", TERN_TYPE_OF(TERN_BASIC_LOGICAL32, int32_t))                         \
    X(logical1, "MPI_LOGICAL1", TERN_TYPE_OF(TERN_BASIC_LOGICAL8, int8_t))                         \
    X(logical2, "MPI_LOGICAL2", TERN_TYPE_OF(TERN_BASIC_LOGICAL16, int16_t))                       \
    X(logical4, "MPI_LOGICAL4", TERN_TYPE_OF(TERN_BASIC_LOGICAL32, int32_t))                       \
    X(logical8, "MPI_LOGICAL8", TERN_TYPE_OF(TERN_BASIC_LOGICAL64, int64_t))                       \
    X(integer, "MPI_INTEGER", TERN_TYPE_OF(TERN_BASIC_INT32, int32_t))                             \
    X(integer1, "MPI_INTEGER1", TERN_TYPE_OF(TERN_BASIC_INT8, int8_t))                             \
    X(integer2, "MPI_INTEGER2", TERN_TYPE_OF(TERN_BASIC_INT16, int16_t))                           \
    X(integer4, "MPI_INTEGER4", TERN_TYPE_OF(TERN_BASIC_INT32, int32_t))                           \
    X(integer8, "MPI_INTEGER8", TERN_TYPE_OF(TERN_BASIC_INT64, int64_t))                           \
    X(integer16, "MPI_INTEGER16", TERN_ABSENT)                                                     \
    X(real, "MPI_REAL", TERN_TYPE_OF(TERN_BASIC_FLOAT, float))                                     \
    X(real2, "MPI_REAL2", TERN_ABSENT)                                                             \
    X(real4, "MPI_REAL4", TERN_TYPE_OF(TERN_BASIC_FLOAT, float))                                   \
    X(real8, "MPI_REAL8", TERN_TYPE_OF(TERN_BASIC_DOUBLE, double))                                 \
    X(real16, "MPI_REAL16", TERN_TYPE_OF(TERN_BASIC_FLOAT128, tern_binary128))                     \
    X(dblprec, "MPI_DOUBLE_PRECISION", TERN_TYPE_OF(TERN_BASIC_DOUBLE, double))                    \
    X(cplex, "MPI_COMPLEX", TERN_TYPE_OF(TERN_BASIC_FLOAT_COMPLEX, float complex))                 \
    X(complex8, "MPI_COMPLEX8", TERN_TYPE_OF(TERN_BASIC_FLOAT_COMPLEX, float complex))             \
    X(complex16, "MPI_COMPLEX16", TERN_TYPE_OF(TERN_BASIC_DOUBLE_COMPLEX, double complex))         \
    X(complex32, "MPI_COMPLEX32", TERN_TYPE_OF(TERN_BASIC_FLOAT128_COMPLEX, tern_binary128[2]))    \
    X(dblcplex, "MPI_DOUBLE_COMPLEX", TERN_TYPE_OF(TERN_BASIC_DOUBLE_COMPLEX, double complex))     \
    X(2real, "MPI_2REAL", TERN_TWICE(TERN_BASIC_2FLOAT, float))                                    \
    X(2dblprec, "MPI_2DOUBLE_PRECISION", TERN_TWICE(TERN_BASIC_2DOUBLE, double))                   \
    X(2integer, "MPI_2INTEGER", TERN_TWICE(TERN_BASIC_2INT, int32_t))                              \
    X(2cplex, "MPI_2COMPLEX", TERN_TWICE(TERN_BASIC_2FLOAT_COMPLEX, float complex))                \
    X(2dblcplex, "MPI_2DOUBLE_COMPLEX", TERN_TWICE(TERN_BASIC_2DOUBLE_COMPLEX, double complex))

#define TERN_DATATYPE_EXTERN(symbol, name, layout)                                                 \
    extern struct tern_datatype tern_datatype_##symbol;
TERN_DATATYPES(TERN_DATATYPE_EXTERN)
#undef TERN_DATATYPE_EXTERN

#endif
