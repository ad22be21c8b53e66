/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_MAXLOC and MPI_MINLOC on pairs of any number and any integer index, laid out as C does
 * (MPI_Type_get_value_index). reduction.c has the loops of the pairs with a name, such as
 * MPI_DOUBLE_INT. The compiler is told to make them small, because there are 2 * 13 * 8.
 */
#pragma GCC optimize("Os", "no-tree-vectorize")

#include "lib/type/reduction.h"

#include "lib/type/basic.h"

typedef __int128 int128;
typedef long double long_double;
typedef tern_binary128 float128;

/* For equal values the smaller index wins. */
#define ONE_LOOP(function, V, I, precedes)                                                   \
    static void function(const void *restrict from, void *restrict to, int64_t count)        \
    {                                                                                        \
        const struct {                                                                       \
            V value;                                                                         \
            I index;                                                                         \
        } *in = from;                                                                        \
        __typeof__(*in) *last = in + count;                                                  \
        struct {                                                                             \
            V value;                                                                         \
            I index;                                                                         \
        } *inout = to;                                                                       \
        for (; in < last; in++, inout++)                                                     \
            if (in->value precedes inout->value ||                                           \
                (in->value == inout->value && in->index < inout->index)) {                   \
                inout->value = in->value;                                                    \
                inout->index = in->index;                                                    \
            }                                                                                \
    }
#define LOOPS(V, I)                           \
    ONE_LOOP(maxloc_##V##_##I, V, I, >)       \
    ONE_LOOP(minloc_##V##_##I, V, I, <)
#define LOOPS_OF_VALUE(V)                                                       \
    LOOPS(V, int8_t) LOOPS(V, int16_t) LOOPS(V, int32_t) LOOPS(V, int64_t)      \
    LOOPS(V, uint8_t) LOOPS(V, uint16_t) LOOPS(V, uint32_t) LOOPS(V, uint64_t)

LOOPS_OF_VALUE(int8_t)
LOOPS_OF_VALUE(int16_t)
LOOPS_OF_VALUE(int32_t)
LOOPS_OF_VALUE(int64_t)
LOOPS_OF_VALUE(uint8_t)
LOOPS_OF_VALUE(uint16_t)
LOOPS_OF_VALUE(uint32_t)
LOOPS_OF_VALUE(uint64_t)
LOOPS_OF_VALUE(float)
LOOPS_OF_VALUE(double)
LOOPS_OF_VALUE(long_double)
LOOPS_OF_VALUE(float128)
LOOPS_OF_VALUE(int128)

/* Kinds of numbers. An index is one of the first ones. */
enum kind {
    NONE,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    FLOAT,
    DOUBLE,
    LONG_DOUBLE,
    FLOAT128,
    INT128,
    VALUES,
    INDEXES = FLOAT
};

static const uint8_t kinds[TERN_BASIC_COUNT] = {
    [TERN_BASIC_INT8] = INT8,           [TERN_BASIC_INT16] = INT16,
    [TERN_BASIC_INT32] = INT32,         [TERN_BASIC_INT64] = INT64,
    [TERN_BASIC_LONG] = INT64,          [TERN_BASIC_UINT8] = UINT8,
    [TERN_BASIC_UINT16] = UINT16,       [TERN_BASIC_UINT32] = UINT32,
    [TERN_BASIC_UINT64] = UINT64,       [TERN_BASIC_UNSIGNED_LONG] = UINT64,
    [TERN_BASIC_FLOAT] = FLOAT,         [TERN_BASIC_DOUBLE] = DOUBLE,
    [TERN_BASIC_LONG_DOUBLE] = LONG_DOUBLE, [TERN_BASIC_FLOAT128] = FLOAT128,
    [TERN_BASIC_INT128] = INT128,
};

#define BOTH(V, I) {maxloc_##V##_##I, minloc_##V##_##I}
#define ROW(V)                                                                         \
    {                                                                                  \
        [INT8] = BOTH(V, int8_t), [INT16] = BOTH(V, int16_t),                          \
        [INT32] = BOTH(V, int32_t), [INT64] = BOTH(V, int64_t),                        \
        [UINT8] = BOTH(V, uint8_t), [UINT16] = BOTH(V, uint16_t),                      \
        [UINT32] = BOTH(V, uint32_t), [UINT64] = BOTH(V, uint64_t),                    \
    }

static tern_reduce_loop *const loops[VALUES][INDEXES][2] = {
    [INT8] = ROW(int8_t),
    [INT16] = ROW(int16_t),
    [INT32] = ROW(int32_t),
    [INT64] = ROW(int64_t),
    [UINT8] = ROW(uint8_t),
    [UINT16] = ROW(uint16_t),
    [UINT32] = ROW(uint32_t),
    [UINT64] = ROW(uint64_t),
    [FLOAT] = ROW(float),
    [DOUBLE] = ROW(double),
    [LONG_DOUBLE] = ROW(long_double),
    [FLOAT128] = ROW(float128),
    [INT128] = ROW(int128),
};

static const uint8_t bytes[VALUES] = {
    [INT8] = 1,  [INT16] = 2,  [INT32] = 4,  [INT64] = 8, [UINT8] = 1,
    [UINT16] = 2, [UINT32] = 4, [UINT64] = 8, [FLOAT] = 4, [DOUBLE] = 8,
    [LONG_DOUBLE] = sizeof(long double), [FLOAT128] = 16, [INT128] = 16,
};

enum { PER_VALUE = INDEXES - 1 };
_Static_assert((VALUES - 1) * PER_VALUE == TERN_REDUCE_PAIRS, "each pair has a number");

static enum kind value_of(int number)
{
    return (enum kind)(number / PER_VALUE + 1);
}

static enum kind index_of(int number)
{
    return (enum kind)(number % PER_VALUE + 1);
}

int tern_reduce_pair_number(enum tern_basic value, enum tern_basic index)
{
    if (!kinds[value] || !kinds[index] || kinds[index] >= INDEXES)
        return -1;
    return (kinds[value] - 1) * PER_VALUE + kinds[index] - 1;
}

int tern_reduce_pair_bytes(int number, int *ret_index)
{
    *ret_index = bytes[index_of(number)];
    return bytes[value_of(number)];
}

tern_reduce_loop *tern_reduce_find_pair(enum tern_reduce_op op, int number)
{
    if (op != TERN_REDUCE_MAXLOC && op != TERN_REDUCE_MINLOC)
        return NULL;
    return loops[value_of(number)][index_of(number)][op == TERN_REDUCE_MINLOC];
}
