/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Types of certain shapes: what they cost where there are many blocks or levels, what does not fit any number, what is known
 * to be one run or nothing; and the moving of blocks of one size.
 */
#include "lib/type/basic.h"
#include "lib/type/block.h"
#include "lib/type/layout.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct tern_type int8 = TERN_TYPE_OF(TERN_BASIC_INT8, int8_t);
static struct tern_type int32 = TERN_TYPE_OF(TERN_BASIC_INT32, int32_t);
static struct tern_type float64 = TERN_TYPE_OF(TERN_BASIC_DOUBLE, double);

START_TEST(vectors_of_vectors_cost_no_memory)
{
    /* 10^6 blocks of 10^6 blocks: only loops can hold them; runs are asked far behind 2^31 */
    struct tern_type inner, outer;
    ck_assert_int_eq(tern_type_make_vector(&float64, 1000000, 1, 24, &inner), 0);
    ck_assert_int_eq(tern_type_make_vector(&inner, 1000000, 1, 100000000, &outer), 0);
    ck_assert_int_eq(outer.size, 8000000000000);
    struct tern_cursor cursor;
    struct iovec run;
    size_t covered;
    tern_cursor_init(&cursor, &outer, (void *)4096, 3);
    tern_cursor_seek(&cursor, 8000000000000 + 8000000 * INT64_C(999999) + 8 * 999999 + 3);
    ck_assert_int_eq(tern_cursor_runs(&cursor, &run, 1, 100, &covered), 1);
    /* the last block touches the first one of the next element */
    ck_assert_uint_eq(covered, 13);
    ck_assert_uint_eq((uintptr_t)run.iov_base,
                      (uintptr_t)(4096 + outer.extent + 100000000 * INT64_C(999999) + 24 * 999999 +
                                  3));
    tern_type_drop(&inner);
    tern_type_drop(&outer);
}
END_TEST

START_TEST(counts_beyond_31_bits)
{
    struct tern_type many;
    int64_t count = INT64_C(3) << 31;
    ck_assert_int_eq(tern_type_make_vector(&int32, count, 1, 4, &many), 0);
    ck_assert(many.contiguous);
    ck_assert_int_eq(many.size, 4 * count);
    tern_type_drop(&many);
    ck_assert_int_eq(tern_type_make_vector(&int32, count, 1, 8, &many), 0);
    ck_assert_int_eq(many.elements, count);
    ck_assert_int_eq(many.extent, 8 * count - 4);
    tern_type_drop(&many);
}
END_TEST

START_TEST(what_does_not_fit_63_bits_is_refused)
{
    struct tern_type type = {.size = -5};
    ck_assert_int_ne(tern_type_make_vector(&float64, INT64_MAX / 4, 1, 8, &type), 0);
    ck_assert_int_ne(tern_type_make_vector(&float64, 3, 1, INT64_MAX / 2, &type), 0);
    ck_assert_int_ne(tern_type_make_resized(&float64, INT64_MAX, 1, &type), 0);
    int64_t far = INT64_MAX - 3;
    ck_assert_int_ne(tern_type_make_blocks(&float64, 1, 1, (struct tern_ints){&far, 8}, 1, &type),
                     0);
    ck_assert_int_eq(type.size, -5);
}
END_TEST

START_TEST(hundred_levels)
{
    /* each level adds a hole and a byte, so nothing merges */
    struct tern_type type = int8;
    for (int level = 0; level < 100; level++) {
        const struct tern_type *types[] = {&type, &int8};
        int lengths[] = {1, 1};
        int64_t places[] = {0, 2 * level + 2};
        struct tern_type next;
        ck_assert_int_eq(tern_type_make_struct(types, 2, (struct tern_ints){lengths, 4},
                                               (struct tern_ints){places, 8}, &next),
                         0);
        tern_type_drop(&type);
        type = next;
    }
    ck_assert_int_eq(type.size, 101);
    char memory[202], packed[101];
    for (int i = 0; i < 202; i++)
        memory[i] = (char)i;
    struct tern_cursor cursor;
    tern_cursor_init(&cursor, &type, memory, 1);
    ck_assert_uint_eq(tern_cursor_pack(&cursor, packed, 3), 3);
    ck_assert_uint_eq(tern_cursor_pack(&cursor, packed + 3, 1000), 98);
    for (int i = 0; i < 101; i++)
        ck_assert_int_eq(packed[i], (char)(2 * i));
    tern_type_drop(&type);

    /* alternating loops that do not continue each other */
    type = int8;
    for (int level = 0; level < 30; level++) {
        struct tern_type next;
        ck_assert_int_eq(tern_type_make_vector(&type, 2, 1, type.extent + 1, &next), 0);
        tern_type_drop(&type);
        type = next;
    }
    ck_assert_int_eq(type.size, 1 << 30);
    tern_cursor_init(&cursor, &type, (void *)4096, 1);
    tern_cursor_seek(&cursor, (1 << 30) - 1);
    struct iovec run;
    ck_assert_int_eq(tern_cursor_runs(&cursor, &run, 1, 9, NULL), 1);
    ck_assert_uint_eq((uintptr_t)run.iov_base, (uintptr_t)(4096 + type.extent - 1));
    tern_type_drop(&type);
}
END_TEST

START_TEST(what_is_one_run_is_known_to_be)
{
    struct tern_type type, other;
    /* blocks that touch */
    ck_assert_int_eq(tern_type_make_vector(&int32, 5, 3, 12, &type), 0);
    ck_assert(type.contiguous);
    tern_type_drop(&type);
    /* an indexed list in order */
    int lengths[] = {2, 0, 3}, places[] = {4, 100, 6};
    ck_assert_int_eq(tern_type_make_indexed(&int32, 3, (struct tern_ints){lengths, 4},
                                            (struct tern_ints){places, 4}, 4, &type),
                     0);
    ck_assert(type.gapless && type.contiguous);
    ck_assert_int_eq(type.true_lb, 16);
    void *start;
    ck_assert(tern_type_run(&type, (void *)1000, 7, &start));
    ck_assert_uint_eq((uintptr_t)start, 1016);
    tern_type_drop(&type);
    /* with a hole behind: one element only */
    ck_assert_int_eq(tern_type_make_resized(&int32, 0, 16, &type), 0);
    ck_assert(type.gapless && !type.contiguous);
    ck_assert(tern_type_run(&type, (void *)1000, 1, &start));
    ck_assert(!tern_type_run(&type, (void *)1000, 2, &start));
    /* and back again */
    ck_assert_int_eq(tern_type_make_resized(&type, 0, 4, &other), 0);
    ck_assert(other.contiguous);
    tern_type_drop(&other);
    tern_type_drop(&type);
}
END_TEST

START_TEST(elements_of_nothing)
{
    struct tern_type type;
    ck_assert_int_eq(tern_type_make_vector(&int32, 0, 3, 12, &type), 0);
    ck_assert_int_eq(type.size, 0);
    ck_assert_int_eq(type.extent, 0);
    struct tern_cursor cursor;
    char byte = 1;
    tern_cursor_init(&cursor, &type, NULL, 1000);
    ck_assert_uint_eq(tern_cursor_pack(&cursor, &byte, 1), 0);
    ck_assert_uint_eq(tern_cursor_unpack(&cursor, &byte, 1), 0);
    ck_assert_int_eq(tern_type_copy(NULL, 1000, &type, &byte, 1, &int8), 0);
    tern_type_drop(&type);
}
END_TEST

START_TEST(short_int_has_a_hole)
{
    struct tern_type type = {.size = 6,
                             .extent = 8,
                             .true_extent = 8,
                             .elements = 2,
                             .program = &tern_program_short_int};
    char memory[16] = "ab..cdefgh..ijkl", packed[12];
    struct tern_cursor cursor;
    tern_cursor_init(&cursor, &type, memory, 2);
    ck_assert_uint_eq(tern_cursor_pack(&cursor, packed, 12), 12);
    ck_assert_mem_eq(packed, "abcdefghijkl", 12);
}
END_TEST

/* Blocks of one size, at any alignment, in every shape, streamed and not: what belongs to them is
 * moved, and no other byte. */
static void check_blocks(size_t size, int64_t rows, int64_t count, int gap, int shift, bool placed,
                         bool streamed)
{
    int64_t stride = (int64_t)size + gap, row_stride = count * stride + 7;
    size_t span = (size_t)(rows * row_stride) + 256, bytes = (size_t)(rows * count) * size;
    int64_t places[150];
    char *room = calloc(1, 4 * (span + bytes + 256)), *memory = room + shift,
         *packed = memory + span, *back = packed + bytes + 128, *expected = back + span;
    ck_assert_ptr_nonnull(room);
    for (size_t i = 0; i < span; i++)
        memory[i] = (char)(rand() | 1);
    for (int64_t i = 0; i < rows; i++)
        places[i] = (rows - 1 - i) * row_stride;
    struct tern_blocks blocks = {
        .base = memory,
        .size = size,
        .count = count,
        .stride = stride,
        .rows = rows,
        .row_stride = row_stride,
        .places = placed ? places : NULL,
        .streamed = streamed,
    };
    tern_block_move(true, packed, &blocks);
    blocks.base = back;
    tern_block_move(false, packed, &blocks);
    const char *from = packed;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < count; k++, from += size) {
            int64_t at = (placed ? places[i] : i * row_stride) + k * stride;
            ck_assert_msg(memcmp(from, memory + at, size) == 0, "size %zu: packed wrongly", size);
            memcpy(expected + at, memory + at, size);
        }
    ck_assert_msg(memcmp(back, expected, span) == 0, "size %zu: unpacked wrongly", size);
    for (int i = 0; i < 128; i++)
        ck_assert_msg(packed[bytes + (size_t)i] == 0, "size %zu: packed too much", size);
    free(room);
}

START_TEST(blocks_of_any_size_and_place)
{
    static const size_t large[] = {512, 640, 1000, 1535, 1536, 4096, 8191, 8192, 20000};
    for (size_t i = 1; i < 300 + sizeof large / sizeof *large; i++) {
        size_t size = i < 300 ? i : large[i - 300];
        for (int variant = 0; variant < 4; variant++) {
            bool placed = variant & 1, streamed = variant & 2;
            check_blocks(size, 3, 2, 5, (int)(i % 64), placed, streamed);
            check_blocks(size, 1, 5, 64, (int)(i % 3) * 16, placed, streamed);
            check_blocks(size, 4, 1, 16, (int)(i * 7 % 64), placed, streamed);
            if (size <= 8) { /* more than a line of the packed stream */
                check_blocks(size, 1, 150, 3, (int)(i % 64), placed, streamed);
                check_blocks(size, 150, 1, 3, (int)(i % 64), placed, streamed);
            }
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shapes of types");
    TCase *tests = suite_case(suite, "shapes of types");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, vectors_of_vectors_cost_no_memory);
    tcase_add_test(tests, counts_beyond_31_bits);
    tcase_add_test(tests, what_does_not_fit_63_bits_is_refused);
    tcase_add_test(tests, hundred_levels);
    tcase_add_test(tests, what_is_one_run_is_known_to_be);
    tcase_add_test(tests, elements_of_nothing);
    tcase_add_test(tests, short_int_has_a_hole);
    tcase_add_test(tests, blocks_of_any_size_and_place);
    return suite_run(suite);
}
