/* SPDX-License-Identifier: BSD-3-Clause */

/* The reductions for AVX2 and AVX-512 give the same bits as the same loops compiled for any
 * processor, whatever the number of elements, and touch nothing behind them. */

#define VECTOR_BYTES 16
#include "lib/type/reduction_loops.h"
#include "lib/type/reduction_wide.h"
#include "random.h"
#include "require.h"

#include <string.h>

#ifdef TERN_REDUCE_WIDE
enum { MOST = 700, BYTES = MOST * 16, BEHIND = 64 };

static const tern_reduce_table plain = {VECTOR_LOOPS};

static uint64_t random_bits(void)
{
    return (uint64_t)choose(0, INT32_MAX) << 33 ^ (uint64_t)choose(0, INT32_MAX) << 11 ^
           (uint64_t)choose(0, INT32_MAX);
}

/* A number, mostly of a size whose products have many digits; or a special one. There is one NaN
 * only: of two different ones the compiler may choose. */
static double random_number(void)
{
    static const uint64_t specials[] = {
        0,                  /* 0 */
        0x8000000000000000, /* -0 */
        0x7ff0000000000000, /* infinity */
        0xfff0000000000000, /* minus infinity */
        0xfff8000000000000, /* the NaN that x86 makes */
        0x0000000000000123, /* denormal */
    };
    uint64_t bits = (random_bits() & 0x800fffffffffffff) | 0x3f00000000000000;
    double number;
    if (choose(0, 15) == 0)
        bits = specials[choose(0, 5)];
    memcpy(&number, &bits, sizeof number);
    return number;
}

static int size_of(int basic)
{
    switch (basic) {
    case TERN_BASIC_INT8:
    case TERN_BASIC_UINT8:
    case TERN_BASIC_LOGICAL8:
    case TERN_BASIC_BYTE:
    case TERN_BASIC_CHARACTER: return 1;
    case TERN_BASIC_INT16:
    case TERN_BASIC_UINT16:
    case TERN_BASIC_LOGICAL16: return 2;
    case TERN_BASIC_INT32:
    case TERN_BASIC_UINT32:
    case TERN_BASIC_LOGICAL32:
    case TERN_BASIC_FLOAT: return 4;
    case TERN_BASIC_DOUBLE_COMPLEX: return 16;
    default: return 8;
    }
}

/* Fills the buffer with elements of the class. Integers are equal now and then. */
static void fill(char *bytes, int basic)
{
    for (int i = 0; i < BYTES / 8; i++) {
        double number = random_number();
        float numbers[2] = {(float)number, (float)random_number()};
        uint64_t bits = choose(0, 7) ? random_bits() : 0;
        const void *from = basic == TERN_BASIC_DOUBLE || basic == TERN_BASIC_DOUBLE_COMPLEX
                               ? (const void *)&number
                           : basic == TERN_BASIC_FLOAT || basic == TERN_BASIC_FLOAT_COMPLEX
                               ? (const void *)numbers
                               : (const void *)&bits;
        memcpy(bytes + i * 8, from, 8);
    }
}

static void compare(tern_reduce_loop *wide, int basic, int op)
{
    static char in[BYTES] __attribute__((aligned(64))), first[BYTES] __attribute__((aligned(64)));
    static char got[BYTES] __attribute__((aligned(64)));
    static char expected[BYTES] __attribute__((aligned(64)));
    int size = size_of(basic);
    fill(in, basic);
    fill(first, basic);
    for (int count = 0; count < MOST - BEHIND; count += count < 140 ? 1 : 97) {
        int in_at = (int)choose(0, 15) * size, at = (int)choose(0, 15) * size;
        memcpy(got, first, BYTES);
        memcpy(expected, first, BYTES);
        plain[basic][op](in + in_at, expected + at, count);
        wide(in + in_at, got + at, count);
        for (int i = 0; i < BYTES; i++)
            REQUIRE(got[i] == expected[i],
                    "class %d, operation %d, %d elements: byte %d is 0x%02x, expected 0x%02x",
                    basic, op, count, i - at, (unsigned char)got[i], (unsigned char)expected[i]);
    }
}

static void compare_all(const tern_reduce_table wide, bool complex_products)
{
    int loops = 0;
    for (int basic = 0; basic < TERN_BASIC_COUNT; basic++)
        for (int op = 0; op < TERN_REDUCE_OPS; op++) {
            bool is_product = op == TERN_REDUCE_PROD && (basic == TERN_BASIC_FLOAT_COMPLEX ||
                                                         basic == TERN_BASIC_DOUBLE_COMPLEX);
            bool expected = plain[basic][op] && (complex_products || !is_product);
            REQUIRE(expected == (wide[basic][op] != NULL),
                    "class %d, operation %d is in one table only", basic, op);
            if (expected) {
                compare(wide[basic][op], basic, op);
                loops++;
            }
        }
    REQUIRE(loops > 100, "only %d loops", loops);
}

int main(void)
{
    seed = 1;
    if (!tern_reduce_has_avx2()) {
        printf("this processor has no AVX2\n");
        return 77;
    }
    compare_all(tern_reduce_avx2, true);
    if (tern_reduce_has_avx512())
        compare_all(tern_reduce_avx512, false);
    else
        printf("this processor has no AVX-512 of the second generation: only AVX2 was compared\n");
    return 0;
}
#else
int main(void)
{
    printf("loops for wider vectors are not compiled here\n");
    return 77;
}
#endif
