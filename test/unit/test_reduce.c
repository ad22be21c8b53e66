/* SPDX-License-Identifier: BSD-3-Clause */

/* Every predefined reduction on every class of basic element, against a reference that computes one
 * element at a time in the widest numbers there are. The values are such that nothing is rounded.
 */
#include "lib/type/basic.h"
#include "lib/type/reduction.h"
#include "suite.h"

#include <check.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef __int128 wide;
typedef tern_binary128 wide_float;

enum family { INTEGER, FLOATING, COMPLEX, LOGICAL, PAIR, OTHER };

/* Layout of a class, told by hand. A pair or complex has a second part at `second` bytes. */
static const struct class
{
    enum tern_basic basic;
    enum family family;
    int size, extent;
    bool is_signed;
    enum family part; /* of pairs: the value's family */
    int part_size, second, second_size;
} classes[] = {
    {TERN_BASIC_INT8, INTEGER, 1, 1, true, 0, 1, 0, 0},
    {TERN_BASIC_INT16, INTEGER, 2, 2, true, 0, 2, 0, 0},
    {TERN_BASIC_INT32, INTEGER, 4, 4, true, 0, 4, 0, 0},
    {TERN_BASIC_INT64, INTEGER, 8, 8, true, 0, 8, 0, 0},
    {TERN_BASIC_LONG, INTEGER, 8, 8, true, 0, 8, 0, 0},
    {TERN_BASIC_INT128, INTEGER, 16, 16, true, 0, 16, 0, 0},
    {TERN_BASIC_UINT8, INTEGER, 1, 1, false, 0, 1, 0, 0},
    {TERN_BASIC_UINT16, INTEGER, 2, 2, false, 0, 2, 0, 0},
    {TERN_BASIC_UINT32, INTEGER, 4, 4, false, 0, 4, 0, 0},
    {TERN_BASIC_UINT64, INTEGER, 8, 8, false, 0, 8, 0, 0},
    {TERN_BASIC_UNSIGNED_LONG, INTEGER, 8, 8, false, 0, 8, 0, 0},
    {TERN_BASIC_FLOAT, FLOATING, 4, 4, true, 0, 4, 0, 0},
    {TERN_BASIC_DOUBLE, FLOATING, 8, 8, true, 0, 8, 0, 0},
    {TERN_BASIC_LONG_DOUBLE, FLOATING, 16, 16, true, 0, 10, 0, 0}, /* x87: ten bytes count */
    {TERN_BASIC_FLOAT128, FLOATING, 16, 16, true, 0, 16, 0, 0},
    {TERN_BASIC_FLOAT_COMPLEX, COMPLEX, 8, 8, true, FLOATING, 4, 4, 4},
    {TERN_BASIC_DOUBLE_COMPLEX, COMPLEX, 16, 16, true, FLOATING, 8, 8, 8},
    {TERN_BASIC_LONG_DOUBLE_COMPLEX, COMPLEX, 32, 32, true, FLOATING, 10, 16, 10},
    {TERN_BASIC_FLOAT128_COMPLEX, COMPLEX, 32, 32, true, FLOATING, 16, 16, 16},
    {TERN_BASIC_LOGICAL8, LOGICAL, 1, 1, false, 0, 1, 0, 0},
    {TERN_BASIC_LOGICAL16, LOGICAL, 2, 2, false, 0, 2, 0, 0},
    {TERN_BASIC_LOGICAL32, LOGICAL, 4, 4, false, 0, 4, 0, 0},
    {TERN_BASIC_LOGICAL64, LOGICAL, 8, 8, false, 0, 8, 0, 0},
    {TERN_BASIC_BYTE, INTEGER, 1, 1, false, 0, 1, 0, 0},
    {TERN_BASIC_CHARACTER, INTEGER, 1, 1, true, 0, 1, 0, 0},
    {TERN_BASIC_PACKED, OTHER, 1, 1, true, 0, 1, 0, 0},
    {TERN_BASIC_WCHAR, OTHER, 4, 4, true, 0, 4, 0, 0},
    {TERN_BASIC_FLOAT_INT, PAIR, 8, 8, true, FLOATING, 4, 4, 4},
    {TERN_BASIC_DOUBLE_INT, PAIR, 12, 16, true, FLOATING, 8, 8, 4},
    {TERN_BASIC_LONG_INT, PAIR, 12, 16, true, INTEGER, 8, 8, 4},
    {TERN_BASIC_2INT, PAIR, 8, 8, true, INTEGER, 4, 4, 4},
    {TERN_BASIC_SHORT_INT, PAIR, 6, 8, true, INTEGER, 2, 4, 4},
    {TERN_BASIC_LONG_DOUBLE_INT, PAIR, 20, 32, true, FLOATING, 10, 16, 4},
    {TERN_BASIC_2FLOAT, PAIR, 8, 8, true, FLOATING, 4, 4, -4},
    {TERN_BASIC_2DOUBLE, PAIR, 16, 16, true, FLOATING, 8, 8,
     -8}, /* negative: the index is floating, too */
    {TERN_BASIC_2FLOAT_COMPLEX, OTHER, 16, 16, true, 0, 8, 0, 0},
    {TERN_BASIC_2DOUBLE_COMPLEX, OTHER, 32, 32, true, 0, 16, 0, 0},
};
enum { CLASSES = sizeof classes / sizeof classes[0] };

/* MPI-4.1 section 6.9.2. */
static bool defined(enum tern_reduce_op op, enum family family)
{
    switch (op) {
    case TERN_REDUCE_MAX:
    case TERN_REDUCE_MIN: return family == INTEGER || family == FLOATING;
    case TERN_REDUCE_SUM:
    case TERN_REDUCE_PROD: return family == INTEGER || family == FLOATING || family == COMPLEX;
    case TERN_REDUCE_LAND:
    case TERN_REDUCE_LOR:
    case TERN_REDUCE_LXOR: return family == INTEGER || family == LOGICAL;
    case TERN_REDUCE_BAND:
    case TERN_REDUCE_BOR:
    case TERN_REDUCE_BXOR: return family == INTEGER;
    case TERN_REDUCE_MAXLOC:
    case TERN_REDUCE_MINLOC: return family == PAIR;
    default: return true;
    }
}

/* --- numbers in memory --- */

static wide get_integer(const char *at, int size, bool is_signed)
{
    unsigned __int128 bits = 0;
    memcpy(&bits, at, (size_t)size);
    if (is_signed && size < 16 && bits >> (8 * size - 1) & 1)
        bits |= ~(unsigned __int128)0 << 8 * size;
    return (wide)bits;
}

static void put_integer(char *at, int size, wide value)
{
    memcpy(at, &value, (size_t)size);
}

static wide_float get_floating(const char *at, int size)
{
    float f;
    double d;
    long double l;
    wide_float q;
    switch (size) {
    case 4: return memcpy(&f, at, 4), f;
    case 8: return memcpy(&d, at, 8), d;
    case 10: return memcpy(&l, at, 16), l;
    default: return memcpy(&q, at, 16), q;
    }
}

static void put_floating(char *at, int size, wide_float value)
{
    float f = (float)value;
    double d = (double)value;
    long double l = (long double)value;
    switch (size) {
    case 4: memcpy(at, &f, 4); break;
    case 8: memcpy(at, &d, 8); break;
    case 10: memcpy(at, &l, 10); break;
    default: memcpy(at, &value, 16);
    }
}

/* --- the reference: to = from op to, one element --- */

static wide integer_result(enum tern_reduce_op op, wide a, wide b, bool is_signed)
{
    unsigned __int128 ua = (unsigned __int128)a, ub = (unsigned __int128)b;
    bool less = is_signed ? a < b : ua < ub;
    switch (op) {
    case TERN_REDUCE_MAX: return less ? b : a;
    case TERN_REDUCE_MIN: return less ? a : b;
    case TERN_REDUCE_SUM: return (wide)(ua + ub);
    case TERN_REDUCE_PROD: return (wide)(ua * ub);
    case TERN_REDUCE_LAND: return a && b;
    case TERN_REDUCE_LOR: return a || b;
    case TERN_REDUCE_LXOR: return !a != !b;
    case TERN_REDUCE_BAND: return a & b;
    case TERN_REDUCE_BOR: return a | b;
    default: return a ^ b;
    }
}

static wide_float floating_result(enum tern_reduce_op op, wide_float a, wide_float b)
{
    switch (op) {
    case TERN_REDUCE_MAX: return a < b ? b : a;
    case TERN_REDUCE_MIN: return a < b ? a : b;
    case TERN_REDUCE_SUM: return a + b;
    default: return a * b;
    }
}

static void complex_result(const struct class *class, enum tern_reduce_op op, const char *from,
                           char *to)
{
    wide_float a = get_floating(from, class->part_size),
               b = get_floating(from + class->second, class->part_size);
    wide_float c = get_floating(to, class->part_size),
               d = get_floating(to + class->second, class->part_size);
    bool sum = op == TERN_REDUCE_SUM;
    put_floating(to, class->part_size, sum ? a + c : a * c - b * d);
    put_floating(to + class->second, class->part_size, sum ? b + d : a * d + b * c);
}

static wide_float pair_number(const struct class *class, const char *at, bool index)
{
    if (index)
        return class->second_size < 0
                   ? get_floating(at + class->second, -class->second_size)
                   : (wide_float)get_integer(at + class->second, class->second_size, true);
    return class->part == FLOATING ? get_floating(at, class->part_size)
                                   : (wide_float)get_integer(at, class->part_size, true);
}

static void pair_result(const struct class *class, enum tern_reduce_op op, const char *from,
                        char *to)
{
    wide_float a = pair_number(class, from, false), b = pair_number(class, to, false);
    bool first = op == TERN_REDUCE_MAXLOC ? a > b : a < b;
    if (a == b)
        first = pair_number(class, from, true) < pair_number(class, to, true);
    if (!first)
        return;
    int index_size = abs(class->second_size);
    memcpy(to, from, (size_t) class->part_size);
    memcpy(to + class->second, from + class->second, (size_t)index_size);
}

static void reference(const struct class *class, enum tern_reduce_op op, const char *from, char *to)
{
    if (op == TERN_REDUCE_NO_OP)
        return;
    if (op == TERN_REDUCE_REPLACE) {
        memcpy(to, from, (size_t) class->extent);
        return;
    }
    switch (class->family) {
    case INTEGER:
    case LOGICAL:
        put_integer(to, class->size,
                    integer_result(op, get_integer(from, class->size, class->is_signed),
                                   get_integer(to, class->size, class->is_signed),
                                   class->is_signed));
        break;
    case FLOATING:
        put_floating(to, class->part_size,
                     floating_result(op, get_floating(from, class->part_size),
                                     get_floating(to, class->part_size)));
        break;
    case COMPLEX: complex_result(class, op, from, to); break;
    default: pair_result(class, op, from, to);
    }
}

/* --- operands: bits for integers, small exact numbers for the rest; equal values are frequent ---
 */

static void put_number(const struct class *class, char *at, enum family family, int size, bool bits)
{
    (void)class;
    int small = rand() % 17 - 8;
    if (family == FLOATING)
        put_floating(at, size, (wide_float)small / 4);
    else if (bits)
        for (int i = 0; i < size; i++)
            at[i] = (char)rand();
    else
        put_integer(at, size, small);
}

static void fill(const struct class *class, char *at)
{
    memset(at, 0, (size_t) class->extent);
    switch (class->family) {
    case INTEGER: put_number(class, at, INTEGER, class->size, rand() % 4); break;
    case LOGICAL: put_integer(at, class->size, rand() % 2); break;
    case FLOATING: put_number(class, at, FLOATING, class->part_size, false); break;
    case COMPLEX:
        put_number(class, at, FLOATING, class->part_size, false);
        put_number(class, at + class->second, FLOATING, class->part_size, false);
        break;
    case PAIR:
        put_number(class, at, class->part, class->part_size, false);
        put_number(class, at + class->second, class->second_size < 0 ? FLOATING : INTEGER,
                   abs(class->second_size), false);
        break;
    case OTHER: put_number(class, at, INTEGER, class->size, true);
    }
}

/* Bytes that make up the value; gaps do not count. */
static bool equal(const struct class *class, const char *a, const char *b)
{
    if (class->family == OTHER)
        return !memcmp(a, b, (size_t) class->size);
    int first =
        class->family == INTEGER || class->family == LOGICAL ? class->size : class->part_size;
    return !memcmp(a, b, (size_t)first) &&
           !memcmp(a + class->second, b + class->second, (size_t)abs(class->second_size));
}

static struct tern_type type_of(const struct class *class)
{
    return (struct tern_type){
        .size = class->size,
        .extent = class->extent,
        .true_extent = class->size,
        .elements = 1,
        .basic = (uint8_t) class->basic,
        .gapless = true,
        .contiguous = class->size == class->extent,
        .committed = true,
    };
}

enum { LONGEST = 67 };

static void compare(const struct class *class, enum tern_reduce_op op, tern_reduce_loop *loop,
                    int count)
{
    size_t bytes = (size_t)(LONGEST + 1) * (size_t) class->extent;
    char *from = aligned_alloc(64, (bytes + 63) / 64 * 64),
         *to = aligned_alloc(64, (bytes + 63) / 64 * 64);
    char *expected = aligned_alloc(64, (bytes + 63) / 64 * 64);
    for (int i = 0; i <= LONGEST; i++) {
        fill(class, from + i * class->extent);
        fill(class, to + i * class->extent);
    }
    memcpy(expected, to, bytes);
    for (int i = 0; i < count; i++)
        reference(class, op, from + i * class->extent, expected + i * class->extent);
    loop(from, to, count);
    for (int i = 0; i <= LONGEST; i++)
        ck_assert_msg(equal(class, to + i * class->extent, expected + i * class->extent),
                      "operation %d on class %d: element %d of %d", op, class->basic, i, count);
    free(from);
    free(to);
    free(expected);
}

START_TEST(every_operation_on_every_class)
{
    const struct class *class = &classes[_i];
    struct tern_type type = type_of(class);
    static const int counts[] = {0, 1, 2, 3, 7, 8, 16, 31, LONGEST};
    srand(1);
    for (int op = 0; op < TERN_REDUCE_OPS; op++) {
        tern_reduce_loop *loop = tern_reduce_find((enum tern_reduce_op)op, &type);
        ck_assert_msg((loop != NULL) == defined((enum tern_reduce_op)op, class->family),
                      "operation %d on class %d is %s", op, class->basic,
                      loop ? "there" : "missing");
        for (size_t i = 0; loop && i < sizeof counts / sizeof counts[0]; i++)
            for (int again = 0; again < 8; again++)
                compare(class, (enum tern_reduce_op)op, loop, counts[i]);
    }
}
END_TEST

/* Every class of type.h has its row above. */
START_TEST(no_class_is_forgotten)
{
    bool seen[TERN_BASIC_COUNT] = {false};
    for (int i = 0; i < CLASSES; i++)
        seen[classes[i].basic] = true;
    for (int basic = TERN_BASIC_NONE + 1; basic < TERN_BASIC_COUNT; basic++)
        ck_assert_msg(seen[basic], "class %d", basic);
}
END_TEST

START_TEST(mixed_types_and_user_functions_have_no_loop)
{
    struct tern_type type = {.size = 4, .extent = 4, .basic = TERN_BASIC_NONE};
    for (int op = 0; op <= TERN_REDUCE_USER; op++)
        ck_assert_ptr_null(tern_reduce_find((enum tern_reduce_op)op, &type));
    type.basic = TERN_BASIC_INT32;
    ck_assert_ptr_null(tern_reduce_find(TERN_REDUCE_USER, &type));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reduce");
    TCase *tcase = suite_case(suite, "operations");
    tcase_add_loop_test(tcase, every_operation_on_every_class, 0, CLASSES);
    tcase_add_test(tcase, no_class_is_forgotten);
    tcase_add_test(tcase, mixed_types_and_user_functions_have_no_loop);
    return suite_run(suite);
}
