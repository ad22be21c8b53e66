/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All reductions. One loop per operation and C type, written once as a macro; the table says which
 * class of element uses which loops. reduction_loops.h has those that the compiler vectorises;
 * processors with AVX2 and AVX-512 have them in tables of their own, which come first.
 */
#define VECTOR_BYTES 16
#include "lib/type/reduction_loops.h"

#include "lib/type/reduction_wide.h"

#include <string.h>

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

INTEGER_LOOPS(int128, int128, uint128)
FLOATING_LOOPS(long_double, long double)
FLOATING_LOOPS(float128, float128)
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

#define LOC(name) [TERN_REDUCE_MAXLOC] = maxloc_##name, [TERN_REDUCE_MINLOC] = minloc_##name

static const tern_reduce_table loops = {
    VECTOR_LOOPS,
    [TERN_BASIC_INT128] = {INTEGER(int128)},
    [TERN_BASIC_LONG_DOUBLE] = {ORDER(long_double), SUM(long_double)},
    [TERN_BASIC_FLOAT128] = {ORDER(float128), SUM(float128)},
    [TERN_BASIC_LONG_DOUBLE_COMPLEX] = {SUM(long_double_complex)},
    [TERN_BASIC_FLOAT128_COMPLEX] = {SUM(float128_complex)},
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

/* Returns the loop for this processor's vectors if they are wider than all processors have. NULL:
 * there is none. */
static tern_reduce_loop *find_wide(enum tern_reduce_op op, int basic)
{
#ifdef TERN_REDUCE_WIDE
    if (tern_reduce_has_avx512() && tern_reduce_avx512[basic][op])
        return tern_reduce_avx512[basic][op];
    if (tern_reduce_has_avx2())
        return tern_reduce_avx2[basic][op];
#endif
    (void)op, (void)basic;
    return NULL;
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
    tern_reduce_loop *loop = find_wide(op, type->basic);
    return loop ? loop : loops[type->basic][op];
}
