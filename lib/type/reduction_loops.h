/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The loops that the compiler vectorises, one per operation and C type. Each file that includes
 * this compiles them for other processors (reduction.c, reduction_avx2.c, reduction_avx512.c), and
 * says first how many bytes their vectors have (VECTOR_BYTES). All give the same bits:
 * products are rounded before they are added, never after (fp-contract). Only if both operands are
 * NaNs, which of them results is up to the compiler.
 *
 * Signed sums are computed unsigned, so that overflow wraps instead of being undefined. Complex
 * products are written out, because C's own call a library routine per element, for infinities.
 */
#pragma GCC optimize("O3", "fp-contract=off", "align-loops=32")

#include "lib/type/reduction.h"

#include "lib/type/basic.h"

#if VECTOR_BYTES > 16
#define UNROLLED _Pragma("GCC unroll 4")
#else
#define UNROLLED
#endif

/* Returns how many elements of `size` bytes lie before the first whole vector at `to`, because a
 * store across two cache lines costs two stores. Returns 0 if there are few elements, or if no
 * element begins at that vector. */
static inline int64_t elements_before_vector(const void *to, int64_t size, int64_t count)
{
    enum { FEW_BYTES = 256 };
    int64_t bytes = -(int64_t)(uintptr_t)to & (VECTOR_BYTES - 1);
    return VECTOR_BYTES > 16 && count * size >= FEW_BYTES && bytes % size == 0 ? bytes / size : 0;
}

#define LOOP(name, T, statement)                                                  \
    static void name(const void *restrict from, void *restrict to, int64_t count) \
    {                                                                             \
        const T *restrict in = from;                                              \
        T *restrict inout = to;                                                   \
        int64_t before = elements_before_vector(to, sizeof(T), count);            \
        if (before) {                                                             \
            name(in, inout, before);                                              \
            in += before, inout += before, count -= before;                       \
        }                                                                         \
        UNROLLED for (int64_t i = 0; i < count; i++)                              \
        {                                                                         \
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

#ifdef WITHOUT_COMPLEX_PRODUCTS
#define PRODUCT_LOOP(name, T, statement)
#define COMPLEX_SUM(name) [TERN_REDUCE_SUM] = sum_##name
#else
#define PRODUCT_LOOP LOOP
#define COMPLEX_SUM SUM
#endif

#define COMPLEX_LOOPS(name, T)                                                                    \
    struct complex_##name {                                                                       \
        T re, im;                                                                                 \
    };                                                                                            \
    LOOP(sum_##name, struct complex_##name, inout[i].re = a.re + b.re; inout[i].im = a.im + b.im) \
    PRODUCT_LOOP(prod_##name, struct complex_##name,                                              \
                 inout[i].re = a.re * b.re - a.im * b.im;                                         \
                 inout[i].im = a.re * b.im + a.im * b.re)

INTEGER_LOOPS(int8, int8_t, unsigned)
INTEGER_LOOPS(int16, int16_t, unsigned)
INTEGER_LOOPS(int32, int32_t, uint32_t)
INTEGER_LOOPS(int64, int64_t, uint64_t)
INTEGER_LOOPS(uint8, uint8_t, unsigned)
INTEGER_LOOPS(uint16, uint16_t, unsigned)
INTEGER_LOOPS(uint32, uint32_t, uint32_t)
INTEGER_LOOPS(uint64, uint64_t, uint64_t)
FLOATING_LOOPS(float, float)
FLOATING_LOOPS(double, double)
COMPLEX_LOOPS(float_complex, float)
COMPLEX_LOOPS(double_complex, double)

#define ORDER(name) [TERN_REDUCE_MAX] = max_##name, [TERN_REDUCE_MIN] = min_##name
#define SUM(name) [TERN_REDUCE_SUM] = sum_##name, [TERN_REDUCE_PROD] = prod_##name
#define LOGIC(name)                                                   \
    [TERN_REDUCE_LAND] = land_##name, [TERN_REDUCE_LOR] = lor_##name, \
    [TERN_REDUCE_LXOR] = lxor_##name
#define BITS(name)                                                    \
    [TERN_REDUCE_BAND] = band_##name, [TERN_REDUCE_BOR] = bor_##name, \
    [TERN_REDUCE_BXOR] = bxor_##name
#define INTEGER(name) ORDER(name), SUM(name), LOGIC(name), BITS(name)

/* Elements of a table by class and operation. */
#define VECTOR_LOOPS                                      \
    [TERN_BASIC_INT8] = {INTEGER(int8)},                  \
    [TERN_BASIC_INT16] = {INTEGER(int16)},                \
    [TERN_BASIC_INT32] = {INTEGER(int32)},                \
    [TERN_BASIC_INT64] = {INTEGER(int64)},                \
    [TERN_BASIC_LONG] = {INTEGER(int64)},                 \
    [TERN_BASIC_UINT8] = {INTEGER(uint8)},                \
    [TERN_BASIC_UINT16] = {INTEGER(uint16)},              \
    [TERN_BASIC_UINT32] = {INTEGER(uint32)},              \
    [TERN_BASIC_UINT64] = {INTEGER(uint64)},              \
    [TERN_BASIC_UNSIGNED_LONG] = {INTEGER(uint64)},       \
    [TERN_BASIC_FLOAT] = {ORDER(float), SUM(float)},      \
    [TERN_BASIC_DOUBLE] = {ORDER(double), SUM(double)},   \
    [TERN_BASIC_LOGICAL8] = {LOGIC(uint8)},               \
    [TERN_BASIC_LOGICAL16] = {LOGIC(uint16)},             \
    [TERN_BASIC_LOGICAL32] = {LOGIC(uint32)},             \
    [TERN_BASIC_LOGICAL64] = {LOGIC(uint64)},             \
    [TERN_BASIC_BYTE] = {INTEGER(uint8)},                 \
    [TERN_BASIC_CHARACTER] = {INTEGER(int8)},             \
    [TERN_BASIC_FLOAT_COMPLEX] = {COMPLEX_SUM(float_complex)},    \
    [TERN_BASIC_DOUBLE_COMPLEX] = {COMPLEX_SUM(double_complex)}
