/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Types of certain shapes: what they cost where there are many blocks or levels, what does not fit any number, what is known
 * to be one run or nothing; and the moving of blocks of one size.
 */
#include "lib/type/basic.h"
#include "lib/type/block.h"
#include "lib/type/layout.h"
#include "lib/type/type_program.h"
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

/* How the blocks of a row, and rows, lie. */
enum shape { STRIDED = 0, ROWS_PLACED = 1, BLOCKS_PLACED = 2, STREAMED = 4, SHAPES = 8 };

/* Memory with blocks in it, their packed form, and room for what comes of unpacking it; anything around. */
struct scene {
    char *room, *memory, *packed, *back, *expected;
    size_t span, bytes;
};

static struct scene make_scene(size_t span, size_t bytes, int shift)
{
    struct scene scene = {.span = span, .bytes = bytes};
    scene.room = calloc(1, 4 * (span + bytes + 256));
    ck_assert_ptr_nonnull(scene.room);
    scene.memory = scene.room + shift;
    scene.packed = scene.memory + span;
    scene.back = scene.packed + bytes + 128;
    scene.expected = scene.back + span;
    for (size_t i = 0; i < span; i++)
        scene.memory[i] = (char)(rand() | 1);
    return scene;
}

static void move_both_ways(struct scene *scene, struct tern_block_rows *blocks)
{
    blocks->base = scene->memory;
    tern_block_move(true, scene->packed, blocks);
    blocks->base = scene->back;
    tern_block_move(false, scene->packed, blocks);
}

/* Of the next `size` bytes of the stream, at `from`. */
static void check_block(struct scene *scene, size_t from, int64_t at, size_t size)
{
    ck_assert_msg(memcmp(scene->packed + from, scene->memory + at, size) == 0,
                  "size %zu: packed wrongly", size);
    memcpy(scene->expected + at, scene->memory + at, size);
}

static void end_scene(struct scene *scene, size_t size)
{
    ck_assert_msg(memcmp(scene->back, scene->expected, scene->span) == 0,
                  "size %zu: unpacked wrongly", size);
    for (int i = 0; i < 128; i++)
        ck_assert_msg(scene->packed[scene->bytes + (size_t)i] == 0, "size %zu: packed too much", size);
    free(scene->room);
}

/* Blocks of one size, at any alignment, in every shape, streamed and not: what belongs to them is
 * moved, and no other byte. */
static void check_blocks(size_t size, int64_t rows, int64_t count, int gap, int shift, int shape)
{
    int64_t stride = (int64_t)size + gap, row_stride = count * stride + 7, places[150], row_places[150];
    struct scene scene =
        make_scene((size_t)(rows * row_stride) + 256, (size_t)(rows * count) * size, shift);
    for (int64_t i = 0; i < rows; i++)
        row_places[i] = (shape & ROWS_PLACED ? rows - 1 - i : i) * row_stride;
    for (int64_t i = 0; i < count; i++)
        places[i] = (shape & BLOCKS_PLACED ? count - 1 - i : i) * stride;
    struct tern_block_rows blocks = {
        .size = size,
        .count = count,
        .stride = stride,
        .places = shape & BLOCKS_PLACED ? places : NULL,
        .rows = rows,
        .row_stride = row_stride,
        .row_places = shape & ROWS_PLACED ? row_places : NULL,
        .streamed = shape & STREAMED,
    };
    move_both_ways(&scene, &blocks);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < count; k++)
            check_block(&scene, (size_t)(i * count + k) * size, row_places[i] + places[k], size);
    end_scene(&scene, size);
}

START_TEST(blocks_of_any_size_and_place)
{
    static const size_t large[] = {512, 640, 1000, 1535, 1536, 4096, 8191, 8192, 20000};
    for (size_t i = 1; i < 300 + sizeof large / sizeof *large; i++) {
        size_t size = i < 300 ? i : large[i - 300];
        for (int shape = 0; shape < SHAPES; shape++) {
            check_blocks(size, 3, 2, 5, (int)(i % 64), shape);
            check_blocks(size, 1, 5, 64, (int)(i % 3) * 16, shape);
            check_blocks(size, 4, 1, 16, (int)(i * 7 % 64), shape);
            if (size <= 8) { /* more than a line of the packed stream */
                check_blocks(size, 1, 150, 3, (int)(i % 64), shape);
                check_blocks(size, 150, 1, 3, (int)(i % 64), shape);
            }
        }
    }
}
END_TEST

/* Runs of 1 to `longest` bytes, each length once, with gaps. */
static void check_runs(int longest, int64_t rows, int shift, bool placed)
{
    struct tern_entry *list = calloc((size_t)longest + 1, sizeof *list);
    int64_t end = 0, row_places[3];
    for (int i = 0; i < longest; i++) {
        int size = 1 + i * 7 % longest;
        if (longest % 7 == 0)
            size = longest - i;
        list[i + 1].at = list[i].at + size;
        list[i].offset = end;
        end += size + 1 + i % 9;
    }
    struct scene scene = make_scene((size_t)(rows * end), (size_t)(rows * list[longest].at), shift);
    for (int64_t i = 0; i < rows; i++)
        row_places[i] = (placed ? rows - 1 - i : i) * end;
    struct tern_block_rows blocks = {
        .size = (size_t)longest,
        .count = longest,
        .list = list,
        .rows = rows,
        .row_stride = end,
        .row_places = placed ? row_places : NULL,
    };
    move_both_ways(&scene, &blocks);
    for (int64_t i = 0; i < rows; i++)
        for (int k = 0; k < longest; k++)
            check_block(&scene, (size_t)(i * list[longest].at + list[k].at), row_places[i] + list[k].offset,
                        (size_t)(list[k + 1].at - list[k].at));
    end_scene(&scene, (size_t)longest);
    free(list);
}

START_TEST(runs_of_any_size_and_place)
{
    static const int longest[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 200, 400, 8200};
    for (size_t i = 0; i < sizeof longest / sizeof *longest; i++)
        for (int shift = 0; shift < (longest[i] < 400 ? 64 : 2); shift++)
            for (int64_t rows = 1; rows <= 3; rows += 2) {
                check_runs(longest[i], longest[i] < 8000 ? rows : 1, shift, false);
                check_runs(longest[i], longest[i] < 8000 ? rows : 1, shift, true);
            }
}
END_TEST

/* What `count` runs with gaps between them become. */
static const struct tern_program *program_of(struct tern_type *type, const int lengths[], int count)
{
    int64_t places[100], at = 0;
    for (int i = 0; i < count; i++) {
        places[i] = at;
        at += lengths[i] + 1 + i % 5;
    }
    ck_assert_int_eq(tern_type_make_indexed(&int8, count, (struct tern_ints){lengths, 4},
                                            (struct tern_ints){places, 8}, 1, type),
                     0);
    return type->program;
}

START_TEST(unequal_runs_become_equal_blocks_if_few)
{
    struct tern_type type, pair;
    const struct tern_program *program = program_of(&type, (int[]){8, 16, 8, 8, 24, 8}, 6);
    ck_assert(program->kind == TERN_PROGRAM_BLOCKS && program->count == 9 && program->each.size == 8);

    /* in another type they are runs again, and merge with what they touch */
    int64_t last = program->places[8] + 8;
    ck_assert_int_eq(tern_type_make_struct((const struct tern_type *[]){&type, &int8}, 2,
                                           (struct tern_ints){(int[]){1, 8}, 4},
                                           (struct tern_ints){(int64_t[]){0, last}, 8}, &pair),
                     0);
    ck_assert(pair.program->kind == TERN_PROGRAM_BLOCKS && pair.program->count == 10);
    tern_type_drop(&pair);
    tern_type_drop(&type);

    program = program_of(&type, (int[]){8, 80, 8, 160}, 4); /* too many blocks */
    ck_assert(program->kind == TERN_PROGRAM_LIST && program->longest == 160);
    tern_type_drop(&type);
    program = program_of(&type, (int[]){96, 192, 96}, 3); /* long ones gain nothing */
    ck_assert(program->kind == TERN_PROGRAM_LIST && program->longest == 192);
    tern_type_drop(&type);
    program = program_of(&type, (int[]){3, 7, 5}, 3);
    ck_assert(program->kind == TERN_PROGRAM_LIST && program->longest == 7);
    tern_type_drop(&type);
    program = program_of(&type, (int[]){8, 8, 8, 8}, 4); /* equal from the beginning */
    ck_assert(program->kind == TERN_PROGRAM_BLOCKS && program->count == 4);
    tern_type_drop(&type);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shapes of types");
    TCase *tests = suite_case(suite, "shapes of types");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, vectors_of_vectors_cost_no_memory);
    tcase_add_test(tests, counts_beyond_31_bits);
    tcase_add_test(tests, what_does_not_fit_63_bits_is_refused);
    tcase_add_test(tests, hundred_levels);
    tcase_add_test(tests, what_is_one_run_is_known_to_be);
    tcase_add_test(tests, elements_of_nothing);
    tcase_add_test(tests, short_int_has_a_hole);
    tcase_add_test(tests, blocks_of_any_size_and_place);
    tcase_add_test(tests, runs_of_any_size_and_place);
    tcase_add_test(tests, unequal_runs_become_equal_blocks_if_few);
    return suite_run(suite);
}
