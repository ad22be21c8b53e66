/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A class of elements is one or two kinds of numbers, repeated; a kind has one loop for each
 * direction. The loops use memcpy of fixed sizes, which compilers turn into moves, because elements
 * of a packed stream may have any alignment.
 */
#pragma GCC optimize("O3")

#include "lib/type/external.h"

#include "lib/type/basic.h"
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packed numbers are little endian");

typedef unsigned __int128 bits128;
typedef tern_binary128 binary128;
typedef void convert(const char *restrict from, char *restrict to, int64_t count);

static inline bits128 swap128(bits128 bits)
{
    return (bits128)__builtin_bswap64((uint64_t)bits) << 64 |
           __builtin_bswap64((uint64_t)(bits >> 64));
}

/* Defines a loop. In and Out are the types of an element before and after; `value` computes the new
 * element from `a`. */
#define LOOP(name, In, Out, value)                                                                 \
    static void name(const char *restrict from, char *restrict to, int64_t count)                  \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            In a;                                                                                  \
            memcpy(&a, from + i * (int64_t)sizeof a, sizeof a);                                    \
            Out b = value;                                                                         \
            memcpy(to + i * (int64_t)sizeof b, &b, sizeof b);                                      \
        }                                                                                          \
    }

LOOP(swap_2, uint16_t, uint16_t, __builtin_bswap16(a))
LOOP(swap_4, uint32_t, uint32_t, __builtin_bswap32(a))
LOOP(swap_8, uint64_t, uint64_t, __builtin_bswap64(a))
LOOP(swap_16, bits128, bits128, swap128(a))
LOOP(truth_1, uint8_t, uint8_t, a != 0)
LOOP(write_truth_2, uint16_t, uint16_t, __builtin_bswap16(a != 0))
LOOP(write_truth_4, uint32_t, uint32_t, __builtin_bswap32(a != 0))
LOOP(write_truth_8, uint64_t, uint64_t, __builtin_bswap64(a != 0))
LOOP(read_truth_2, uint16_t, uint16_t, a != 0)
LOOP(read_truth_4, uint32_t, uint32_t, a != 0)
LOOP(read_truth_8, uint64_t, uint64_t, a != 0)
LOOP(write_long, uint64_t, uint32_t, __builtin_bswap32((uint32_t)a))
LOOP(read_long, uint32_t, int64_t, (int32_t)__builtin_bswap32(a))
LOOP(read_unsigned_long, uint32_t, uint64_t, __builtin_bswap32(a))
LOOP(write_wchar, uint32_t, uint16_t, __builtin_bswap16((uint16_t)a))
LOOP(read_wchar, uint16_t, uint32_t, __builtin_bswap16(a))

static void copy_1(const char *restrict from, char *restrict to, int64_t count)
{
    memcpy(to, from, (size_t)count);
}

#if __LDBL_MANT_DIG__ == 113 || __LDBL_MANT_DIG__ == 64

static inline bits128 bits_of(binary128 value)
{
    bits128 bits;
    memcpy(&bits, &value, sizeof bits);
    return swap128(bits);
}

static inline binary128 value_of(bits128 bits)
{
    binary128 value;
    bits = swap128(bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

LOOP(write_long_double, long double, bits128, bits_of(a))

/* Not a LOOP: 6 bytes of an x87 number do not belong to the value, and must be set, too. */
static void read_long_double(const char *restrict from, char *restrict to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        bits128 bits;
        memcpy(&bits, from + 16 * i, sizeof bits);
        long double value = (long double)value_of(bits);
        memset(to + 16 * i, 0, sizeof value);
        memcpy(to + 16 * i, &value, __LDBL_MANT_DIG__ == 64 ? 10 : 16);
    }
}

#else
#error "long double has a format that is neither x87's nor binary128"
#endif

enum kind {
    NOTHING,
    BYTE,
    INTEGER2,
    INTEGER4,
    INTEGER8,
    INTEGER16,
    TRUTH1,
    TRUTH2,
    TRUTH4,
    TRUTH8,
    LONG,
    UNSIGNED_LONG,
    WIDE_CHARACTER,
    LONG_DOUBLE,
    /* the bytes of a float are swapped like an integer's */
    REAL4 = INTEGER4,
    REAL8 = INTEGER8,
    REAL16 = INTEGER16,
};

static const struct { /* The kinds: sizes in bytes, and the loops. */
    int8_t packed, external; /* bytes */
    convert *write, *read;
} kinds[] = {
    [BYTE] = {1, 1, copy_1, copy_1},
    [INTEGER2] = {2, 2, swap_2, swap_2},
    [INTEGER4] = {4, 4, swap_4, swap_4},
    [INTEGER8] = {8, 8, swap_8, swap_8},
    [INTEGER16] = {16, 16, swap_16, swap_16},
    [TRUTH1] = {1, 1, truth_1, truth_1},
    [TRUTH2] = {2, 2, write_truth_2, read_truth_2},
    [TRUTH4] = {4, 4, write_truth_4, read_truth_4},
    [TRUTH8] = {8, 8, write_truth_8, read_truth_8},
    [LONG] = {sizeof(long), 4, write_long, read_long},
    [UNSIGNED_LONG] = {sizeof(long), 4, write_long, read_unsigned_long},
    [WIDE_CHARACTER] = {sizeof(wchar_t), 2, write_wchar, read_wchar},
    [LONG_DOUBLE] = {sizeof(long double), 16, write_long_double, read_long_double},
};

/* An element of a class: `times` numbers of the first kind, then one of the second. */
static const struct form {
    uint8_t first, times, second; /* enum kind */
} forms[TERN_BASIC_COUNT] = {
    [TERN_BASIC_INT8] = {BYTE, 1, NOTHING},
    [TERN_BASIC_INT16] = {INTEGER2, 1, NOTHING},
    [TERN_BASIC_INT32] = {INTEGER4, 1, NOTHING},
    [TERN_BASIC_INT64] = {INTEGER8, 1, NOTHING},
    [TERN_BASIC_LONG] = {LONG, 1, NOTHING},
    [TERN_BASIC_INT128] = {INTEGER16, 1, NOTHING},
    [TERN_BASIC_UINT8] = {BYTE, 1, NOTHING},
    [TERN_BASIC_UINT16] = {INTEGER2, 1, NOTHING},
    [TERN_BASIC_UINT32] = {INTEGER4, 1, NOTHING},
    [TERN_BASIC_UINT64] = {INTEGER8, 1, NOTHING},
    [TERN_BASIC_UNSIGNED_LONG] = {UNSIGNED_LONG, 1, NOTHING},
    [TERN_BASIC_FLOAT] = {REAL4, 1, NOTHING},
    [TERN_BASIC_DOUBLE] = {REAL8, 1, NOTHING},
    [TERN_BASIC_LONG_DOUBLE] = {LONG_DOUBLE, 1, NOTHING},
    [TERN_BASIC_FLOAT128] = {REAL16, 1, NOTHING},
    [TERN_BASIC_FLOAT_COMPLEX] = {REAL4, 2, NOTHING},
    [TERN_BASIC_DOUBLE_COMPLEX] = {REAL8, 2, NOTHING},
    [TERN_BASIC_LONG_DOUBLE_COMPLEX] = {LONG_DOUBLE, 2, NOTHING},
    [TERN_BASIC_FLOAT128_COMPLEX] = {REAL16, 2, NOTHING},
    [TERN_BASIC_LOGICAL8] = {TRUTH1, 1, NOTHING},
    [TERN_BASIC_LOGICAL16] = {TRUTH2, 1, NOTHING},
    [TERN_BASIC_LOGICAL32] = {TRUTH4, 1, NOTHING},
    [TERN_BASIC_LOGICAL64] = {TRUTH8, 1, NOTHING},
    [TERN_BASIC_BYTE] = {BYTE, 1, NOTHING},
    [TERN_BASIC_PACKED] = {BYTE, 1, NOTHING},
    [TERN_BASIC_CHARACTER] = {BYTE, 1, NOTHING},
    [TERN_BASIC_WCHAR] = {WIDE_CHARACTER, 1, NOTHING},
    [TERN_BASIC_FLOAT_INT] = {REAL4, 1, INTEGER4},
    [TERN_BASIC_DOUBLE_INT] = {REAL8, 1, INTEGER4},
    [TERN_BASIC_LONG_INT] = {LONG, 1, INTEGER4},
    [TERN_BASIC_2INT] = {INTEGER4, 2, NOTHING},
    [TERN_BASIC_SHORT_INT] = {INTEGER2, 1, INTEGER4},
    [TERN_BASIC_LONG_DOUBLE_INT] = {LONG_DOUBLE, 1, INTEGER4},
    [TERN_BASIC_2FLOAT] = {REAL4, 2, NOTHING},
    [TERN_BASIC_2DOUBLE] = {REAL8, 2, NOTHING},
    [TERN_BASIC_2FLOAT_COMPLEX] = {REAL4, 4, NOTHING},
    [TERN_BASIC_2DOUBLE_COMPLEX] = {REAL8, 4, NOTHING},
};

int64_t tern_external_packed_size(enum tern_basic basic)
{
    const struct form *form = &forms[basic];
    return kinds[form->first].packed * form->times + kinds[form->second].packed;
}

int64_t tern_external_size(enum tern_basic basic)
{
    const struct form *form = &forms[basic];
    return kinds[form->first].external * form->times + kinds[form->second].external;
}

void tern_external_write(enum tern_basic basic, const char *packed, char *external, int64_t count)
{
    const struct form *form = &forms[basic];
    if (form->second == NOTHING) {
        kinds[form->first].write(packed, external, count * form->times);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        kinds[form->first].write(packed, external, form->times);
        packed += kinds[form->first].packed * form->times;
        external += kinds[form->first].external * form->times;
        kinds[form->second].write(packed, external, 1);
        packed += kinds[form->second].packed;
        external += kinds[form->second].external;
    }
}

/* Returns true if all numbers of `count` elements, which lie `stride` bytes apart, fit. */
static bool fit(enum kind kind, const char *packed, int64_t count, int64_t stride)
{
    uint64_t lost = 0;
    for (int64_t i = 0; i < count; i++, packed += stride) {
        uint64_t a = 0;
        if (kind == WIDE_CHARACTER) {
            memcpy(&a, packed, sizeof(wchar_t));
            lost |= a >> 16;
        } else {
            memcpy(&a, packed, sizeof a);
            /* a signed number fits if it is its lower half, extended */
            lost |= kind == LONG ? a ^ (uint64_t)(int64_t)(int32_t)(uint32_t)a : a >> 32;
        }
    }
    return lost == 0;
}

bool tern_external_fits(enum tern_basic basic, const char *packed, int64_t count)
{
    enum kind kind = forms[basic].first; /* only of a pair's first part the form may be shorter */
    return kinds[kind].external == kinds[kind].packed ||
           fit(kind, packed, count, tern_external_packed_size(basic));
}

void tern_external_read(enum tern_basic basic, const char *external, char *packed, int64_t count)
{
    const struct form *form = &forms[basic];
    if (form->second == NOTHING) {
        kinds[form->first].read(external, packed, count * form->times);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        kinds[form->first].read(external, packed, form->times);
        packed += kinds[form->first].packed * form->times;
        external += kinds[form->first].external * form->times;
        kinds[form->second].read(external, packed, 1);
        packed += kinds[form->second].packed;
        external += kinds[form->second].external;
    }
}
