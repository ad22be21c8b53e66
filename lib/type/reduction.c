/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One loop per operation and C type, written once as a macro; the compiler vectorises them. The
 * table at the end says which class of element uses which loops. Signed sums are computed unsigned,
 * so that overflow wraps instead of being undefined. Complex products are written out, because C's
 * own call a library routine per element, for infinities.
 */
#pragma GCC optimize("O3")

#include "lib/type/reduction.h"

#include "lib/type/basic.h"
#include <string.h>

#define LOOP(name, T, statement)                                                  \
    static void name(const void *restrict from, void *restrict to, int64_t count) \
    {                                                                             \
        const T *restrict in = from;                                              \
        T *restrict inout = to;                                                   \
        for (int64_t i = 0; i < count; i++) {                                     \
            T a = in[i], b = inout[i];                                            \
            statement;                                                            \
        }                                                                         \
    }

/* The left operand stays on ties and unordered values, so that all ranks that combine in one order
 * get equal results. */
#define ORDER_LOOPS(name, T)                      \
    LOOP(max_##name, T, inout[i] = b > a ? b : a) \
    LOOP(min_##name, T, inout[i] = b < a ? b : a)

#define SUM_LOOPS(name, T, U)                        \
    LOOP(sum_##name, T, inout[i] = (T)((U)a + (U)b)) \
    LOOP(prod_##name, T, inout[i] = (T)((U)a * (U)b))

#define LOGIC_LOOPS(name, T)                             \
    LOOP(land_##name, T, inout[i] = (a != 0) & (b != 0)) \
    LOOP(lor_##name, T, inout[i] = (a != 0) | (b != 0))  \
    LOOP(lxor_##name, T, inout[i] = (a != 0) ^ (b != 0))

#define BIT_LOOPS(name, T)                 \
    LOOP(band_##name, T, inout[i] = a & b) \
    LOOP(bor_##name, T, inout[i] = a | b)  \
    LOOP(bxor_##name, T, inout[i] = a ^ b)

/* U is an unsigned type, at least as wide as int: narrower ones are promoted to int, where they
 * could overflow. */
#define INTEGER_LOOPS(name, T, U) \
    ORDER_LOOPS(name, T)          \
    SUM_LOOPS(name, T, U)         \
    LOGIC_LOOPS(name, T)          \
    BIT_LOOPS(name, T)

#define FLOATING_LOOPS(name, T) \
    ORDER_LOOPS(name, T)        \
    SUM_LOOPS(name, T, T)

#define COMPLEX_LOOPS(name, T)                                                                    \
    struct complex_##name {                                                                       \
        T re, im;                                                                                 \
    };                                                                                            \
    LOOP(sum_##name, struct complex_##name, inout[i].re = a.re + b.re; inout[i].im = a.im + b.im) \
    LOOP(prod_##name, struct complex_##name, inout[i].re = a.re * b.re - a.im * b.im;             \
         inout[i].im = a.re * b.im + a.im * b.re)

/* For equal values the smaller index wins. */
#define PAIR_LOOPS(name, V, I)                                                             \
    struct pair_##name {                                                                   \
        V value;                                                                           \
        I index;                                                                           \
    };                                                                                     \
    LOOP(maxloc_##name, struct pair_##name,                                                \
         if (a.value > b.value || (a.value == b.value && a.index < b.index)) inout[i] = a) \
    LOOP(minloc_##name, struct pair_##name,                                                \
         if (a.value < b.value || (a.value == b.value && a.index < b.index)) inout[i] = a)

#define REPLACE_LOOP(bytes)                                                                  \
    static void replace_##bytes(const void *restrict from, void *restrict to, int64_t count) \
    {                                                                                        \
        memcpy(to, from, (size_t)count *(bytes));                                            \
    }

typedef __int128 int128;
typedef unsigned __int128 uint128;
typedef tern_binary128 float128;

INTEGER_LOOPS(int8, int8_t, unsigned)
INTEGER_LOOPS(int16, int16_t, unsigned)
INTEGER_LOOPS(int32, int32_t, uint32_t)
INTEGER_LOOPS(int64, int64_t, uint64_t)
INTEGER_LOOPS(int128, int128, uint128)
INTEGER_LOOPS(uint8, uint8_t, unsigned)
INTEGER_LOOPS(uint16, uint16_t, unsigned)
INTEGER_LOOPS(uint32, uint32_t, uint32_t)
INTEGER_LOOPS(uint64, uint64_t, uint64_t)
FLOATING_LOOPS(float, float)
FLOATING_LOOPS(double, double)
FLOATING_LOOPS(long_double, long double)
FLOATING_LOOPS(float128, float128)
COMPLEX_LOOPS(float_complex, float)
COMPLEX_LOOPS(double_complex, double)
COMPLEX_LOOPS(long_double_complex, long double)
COMPLEX_LOOPS(float128_complex, float128)
PAIR_LOOPS(float_int, float, int)
PAIR_LOOPS(double_int, double, int)
PAIR_LOOPS(long_int, long, int)
PAIR_LOOPS(2int, int, int)
PAIR_LOOPS(short_int, short, int)
PAIR_LOOPS(long_double_int, long double, int)
PAIR_LOOPS(2float, float, float)
PAIR_LOOPS(2double, double, double)
REPLACE_LOOP(1)
REPLACE_LOOP(2)
REPLACE_LOOP(4)
REPLACE_LOOP(8)
REPLACE_LOOP(16)
REPLACE_LOOP(32)

static void no_op(const void *in, void *inout, int64_t count)
{
    (void)in, (void)inout, (void)count;
}

#define ORDER(name) [TERN_REDUCE_MAX] = max_##name, [TERN_REDUCE_MIN] = min_##name
#define SUM(name) [TERN_REDUCE_SUM] = sum_##name, [TERN_REDUCE_PROD] = prod_##name
#define LOGIC(name)                                                   \
    [TERN_REDUCE_LAND] = land_##name, [TERN_REDUCE_LOR] = lor_##name, \
    [TERN_REDUCE_LXOR] = lxor_##name
#define BITS(name)                                                    \
    [TERN_REDUCE_BAND] = band_##name, [TERN_REDUCE_BOR] = bor_##name, \
    [TERN_REDUCE_BXOR] = bxor_##name
#define LOC(name) [TERN_REDUCE_MAXLOC] = maxloc_##name, [TERN_REDUCE_MINLOC] = minloc_##name
#define INTEGER(name) ORDER(name), SUM(name), LOGIC(name), BITS(name)

static tern_reduce_loop *const loops[TERN_BASIC_COUNT][TERN_REDUCE_OPS] = {
    [TERN_BASIC_INT8] = {INTEGER(int8)},
    [TERN_BASIC_INT16] = {INTEGER(int16)},
    [TERN_BASIC_INT32] = {INTEGER(int32)},
    [TERN_BASIC_INT64] = {INTEGER(int64)},
    [TERN_BASIC_LONG] = {INTEGER(int64)},
    [TERN_BASIC_INT128] = {INTEGER(int128)},
    [TERN_BASIC_UINT8] = {INTEGER(uint8)},
    [TERN_BASIC_UINT16] = {INTEGER(uint16)},
    [TERN_BASIC_UINT32] = {INTEGER(uint32)},
    [TERN_BASIC_UINT64] = {INTEGER(uint64)},
    [TERN_BASIC_UNSIGNED_LONG] = {INTEGER(uint64)},
    [TERN_BASIC_FLOAT] = {ORDER(float), SUM(float)},
    [TERN_BASIC_DOUBLE] = {ORDER(double), SUM(double)},
    [TERN_BASIC_LONG_DOUBLE] = {ORDER(long_double), SUM(long_double)},
    [TERN_BASIC_FLOAT128] = {ORDER(float128), SUM(float128)},
    [TERN_BASIC_FLOAT_COMPLEX] = {SUM(float_complex)},
    [TERN_BASIC_DOUBLE_COMPLEX] = {SUM(double_complex)},
    [TERN_BASIC_LONG_DOUBLE_COMPLEX] = {SUM(long_double_complex)},
    [TERN_BASIC_FLOAT128_COMPLEX] = {SUM(float128_complex)},
    [TERN_BASIC_LOGICAL8] = {LOGIC(uint8)},
    [TERN_BASIC_LOGICAL16] = {LOGIC(uint16)},
    [TERN_BASIC_LOGICAL32] = {LOGIC(uint32)},
    [TERN_BASIC_LOGICAL64] = {LOGIC(uint64)},
    [TERN_BASIC_BYTE] = {INTEGER(uint8)},
    [TERN_BASIC_CHARACTER] = {INTEGER(int8)},
    [TERN_BASIC_FLOAT_INT] = {LOC(float_int)},
    [TERN_BASIC_DOUBLE_INT] = {LOC(double_int)},
    [TERN_BASIC_LONG_INT] = {LOC(long_int)},
    [TERN_BASIC_2INT] = {LOC(2int)},
    [TERN_BASIC_SHORT_INT] = {LOC(short_int)},
    [TERN_BASIC_LONG_DOUBLE_INT] = {LOC(long_double_int)},
    [TERN_BASIC_2FLOAT] = {LOC(2float)},
    [TERN_BASIC_2DOUBLE] = {LOC(2double)},
};

static tern_reduce_loop *replace_loop(int64_t extent)
{
    switch (extent) {
    case 1: return replace_1;
    case 2: return replace_2;
    case 4: return replace_4;
    case 8: return replace_8;
    case 16: return replace_16;
    case 32: return replace_32;
    default: return NULL;
    }
}

tern_reduce_loop *tern_reduce_find(enum tern_reduce_op op, const struct tern_type *type)
{
    if (op < 0 || op >= TERN_REDUCE_OPS || type->basic <= TERN_BASIC_NONE ||
        type->basic >= TERN_BASIC_COUNT)
        return NULL;
    if (op == TERN_REDUCE_NO_OP)
        return no_op;
    if (op == TERN_REDUCE_REPLACE)
        return replace_loop(type->extent);
    return loops[type->basic][op];
}
