/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random nested types against a reference that knows nothing but the standard's typemap: a list of
 * (displacement, size) of basic elements, and markers. Everything a type tells and every byte a
 * cursor moves must follow from that list.
 */
#include "lib/type/basic.h"
#include "lib/type/layout.h"
#include "random.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_MAX = 4000, SPAN_MAX = 300000 };
/* Sizes of markers. PAD: where the padding of a type ends that has no UB; it holds inside larger
 * types, as a C structure's padding does. */
enum { LB = -1, UB = -2, PAD = -3 };

struct map {
    int count;
    int64_t at[MAP_MAX];
    int size[MAP_MAX];
};

static struct tern_type basics[] = {
    TERN_TYPE_OF(TERN_BASIC_INT8, int8_t),
    TERN_TYPE_OF(TERN_BASIC_INT16, int16_t),
    TERN_TYPE_OF(TERN_BASIC_INT32, int32_t),
    TERN_TYPE_OF(TERN_BASIC_DOUBLE, double),
    TERN_TYPE_OF(TERN_BASIC_LONG_DOUBLE, long double),
};

static void map_bounds(const struct map *map, struct tern_type *ret)
{
    int64_t lb = 0, ub = 0, pad = INT64_MIN, true_lb = 0, true_ub = 0, align = 1;
    bool lb_marked = false, ub_marked = false, data = false;
    *ret = (struct tern_type){0};
    for (int i = 0; i < map->count; i++) {
        if (map->size[i] == LB) {
            lb = !lb_marked || map->at[i] < lb ? map->at[i] : lb;
            lb_marked = true;
        } else if (map->size[i] == UB) {
            ub = !ub_marked || map->at[i] > ub ? map->at[i] : ub;
            ub_marked = true;
        } else if (map->size[i] == PAD) {
            pad = map->at[i] > pad ? map->at[i] : pad;
        } else {
            true_lb = !data || map->at[i] < true_lb ? map->at[i] : true_lb;
            true_ub =
                !data || map->at[i] + map->size[i] > true_ub ? map->at[i] + map->size[i] : true_ub;
            align = map->size[i] > align ? map->size[i] : align;
            data = true;
            ret->size += map->size[i];
            ret->elements++;
        }
    }
    ret->true_lb = true_lb;
    ret->true_extent = true_ub - true_lb;
    ret->lb = lb_marked ? lb : true_lb;
    if (!ub_marked) {
        ub = data ? true_ub : ret->lb;
        ub = pad > ub ? pad : ub;
        int64_t over = (ub - ret->lb) % align;
        ub += over > 0 ? align - over : 0;
    }
    ret->extent = ub - ret->lb;
    ret->lb_marked = lb_marked;
    ret->ub_marked = ub_marked;
}

/* `count` elements of `part` at `displacement`; false: too many for the reference. */
static bool map_add(struct map *map, const struct map *part, int64_t extent, int64_t displacement,
                    int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        for (int j = 0; j < part->count; j++) {
            if (map->count == MAP_MAX)
                return false;
            map->at[map->count] = displacement + i * extent + part->at[j];
            map->size[map->count++] = part->size[j];
        }
    return true;
}

static void assert_same(const struct tern_type *type, const struct map *map)
{
    struct tern_type expected;
    map_bounds(map, &expected);
    ck_assert_int_eq(type->size, expected.size);
    ck_assert_int_eq(type->elements, expected.elements);
    ck_assert_int_eq(type->true_lb, expected.true_lb);
    ck_assert_int_eq(type->true_extent, expected.true_extent);
    ck_assert_int_eq(type->lb, expected.lb);
    ck_assert_int_eq(type->extent, expected.extent);
    ck_assert_int_eq(type->lb_marked, expected.lb_marked);
    ck_assert_int_eq(type->ub_marked, expected.ub_marked);
}

static bool make_random(int depth, struct tern_type *ret_type, struct map *ret_map);

static bool make_listed(int depth, int kind, struct tern_type *ret_type, struct map *map)
{
    struct tern_type types[5];
    struct map *maps = calloc(5, sizeof *maps);
    const struct tern_type *pointers[5];
    int count = (int)choose(0, 5), made = 0, distinct = kind == 2 ? count : 1;
    int lengths[5];
    int64_t places[5], constant = choose(0, 3), next = choose(-50, 50);
    bool fits = true;
    while (made < distinct && fits) {
        fits = make_random(depth - 1, &types[made], &maps[made]);
        made += fits;
    }
    int64_t unit = kind == 2 || !fits || choose(0, 1) ? 1 : types[0].extent;
    for (int i = 0; i < count && fits; i++) {
        int which = kind == 2 ? i : 0;
        pointers[i] = &types[which];
        lengths[i] = kind == 0 ? (int)constant : (int)choose(0, 3);
        int64_t extent = types[which].extent;
        /* half of them touch the one before, or are regular, so that merging has something to do */
        places[i] = choose(0, 1) ? next : choose(-50, 50) * (unit == 1 ? 8 : 1);
        next = places[i] + lengths[i] * (unit == 1 ? extent : 1);
        fits = map_add(map, &maps[which], extent, places[i] * unit, lengths[i]);
    }
    if (fits) {
        struct tern_ints blocklengths = {lengths, 4}, displacements = {places, 8};
        int error =
            kind == 0
                ? tern_type_make_blocks(&types[0], count, constant, displacements, unit, ret_type)
            : kind == 1
                ? tern_type_make_indexed(&types[0], count, blocklengths, displacements, unit,
                                         ret_type)
                : tern_type_make_struct(pointers, count, blocklengths, displacements, ret_type);
        ck_assert_int_eq(error, 0);
    }
    /* what a type was made of may go first */
    for (int i = 0; i < made; i++)
        tern_type_drop(&types[i]);
    free(maps);
    return fits;
}

static bool make_strided(const struct tern_type *old, const struct map *part,
                         struct tern_type *ret_type, struct map *map)
{
    int64_t count = choose(0, 5), blocklength = choose(0, 4);
    int64_t stride = choose(0, 2) ? choose(-6, 6) * old->extent : choose(-60, 60);
    if (choose(0, 3) == 0)
        stride = blocklength * old->extent;
    for (int64_t i = 0; i < count; i++)
        if (!map_add(map, part, old->extent, i * stride, blocklength))
            return false;
    ck_assert_int_eq(tern_type_make_vector(old, count, blocklength, stride, ret_type), 0);
    return true;
}

static bool make_box(const struct tern_type *old, const struct map *part,
                     struct tern_type *ret_type, struct map *map)
{
    int sizes[3], subsizes[3], starts[3], dims = (int)choose(1, 3);
    bool fortran = choose(0, 1);
    for (int i = 0; i < dims; i++) {
        sizes[i] = (int)choose(1, 4);
        subsizes[i] = (int)choose(1, sizes[i]);
        starts[i] = (int)choose(0, sizes[i] - subsizes[i]);
    }
    int at[3] = {0}, total = 1, whole = 1;
    for (int i = 0; i < dims; i++) {
        total *= subsizes[i];
        whole *= sizes[i];
    }
    struct map data = {0};
    for (int i = 0; i < part->count; i++) /* the markers of the old type are replaced */
        if (part->size[i] > 0) {
            data.at[data.count] = part->at[i];
            data.size[data.count++] = part->size[i];
        }
    for (int n = 0; n < total; n++) {
        int64_t place = 0;
        for (int i = 0; i < dims; i++) {
            int dim = fortran ? dims - 1 - i : i; /* slowest first */
            place = place * sizes[dim] + starts[dim] + at[dim];
        }
        if (!map_add(map, &data, 0, place * old->extent, 1))
            return false;
        for (int i = dims - 1; i >= 0; i--) {
            int dim = fortran ? dims - 1 - i : i;
            if (++at[dim] < subsizes[dim])
                break;
            at[dim] = 0;
        }
    }
    if (map->count + 2 > MAP_MAX)
        return false;
    map->size[map->count] = LB;
    map->at[map->count++] = 0;
    map->size[map->count] = UB;
    map->at[map->count++] = whole * old->extent;
    ck_assert_int_eq(tern_type_make_subarray(old, dims, (struct tern_ints){sizes, 4},
                                             (struct tern_ints){subsizes, 4},
                                             (struct tern_ints){starts, 4}, fortran, ret_type),
                     0);
    return true;
}

static bool make_with_bounds(const struct tern_type *old, const struct map *part,
                             struct tern_type *ret_type, struct map *map)
{
    int64_t lb = choose(0, 1) ? old->lb : choose(-40, 40), extent = choose(0, 200);
    for (int i = 0; i < part->count; i++)
        if (part->size[i] > 0) {
            map->at[map->count] = part->at[i];
            map->size[map->count++] = part->size[i];
        }
    if (map->count + 2 > MAP_MAX)
        return false;
    map->at[map->count] = lb;
    map->size[map->count++] = LB;
    map->at[map->count] = lb + extent;
    map->size[map->count++] = UB;
    ck_assert_int_eq(tern_type_make_resized(old, lb, extent, ret_type), 0);
    return true;
}

static bool make_random(int depth, struct tern_type *ret_type, struct map *map)
{
    map->count = 0;
    int kind = depth == 0 ? 9 : (int)choose(0, 9);
    if (kind == 9) {
        *ret_type = basics[choose(0, 4)];
        map->count = 1;
        map->at[0] = 0;
        map->size[0] = (int)ret_type->size;
        return true;
    }
    bool fits;
    if (kind <= 2) {
        fits = make_listed(depth, kind, ret_type, map);
    } else {
        struct tern_type old;
        struct map *part = calloc(1, sizeof *part);
        fits = make_random(depth - 1, &old, part);
        if (fits) {
            fits = kind <= 5   ? make_strided(&old, part, ret_type, map)
                   : kind == 6 ? make_box(&old, part, ret_type, map)
                   : kind == 7 ? make_with_bounds(&old, part, ret_type, map)
                               : (tern_type_make_dup(&old, ret_type), *map = *part, true);
            tern_type_drop(&old);
        }
        free(part);
    }
    if (!fits)
        return false;
    assert_same(ret_type, map);
    if (map->count == MAP_MAX) {
        tern_type_drop(ret_type);
        return false;
    }
    if (!ret_type->ub_marked && ret_type->elements > 0) {
        map->at[map->count] = ret_type->lb + ret_type->extent;
        map->size[map->count++] = PAD;
    }
    return true;
}

/* The memory of `count` elements, filled with a pattern; *ret_base is where element 0 is. */
struct buffer {
    char *memory;
    int64_t bytes;
    char *base;
};

static bool make_buffer(const struct tern_type *type, int64_t count, struct buffer *ret)
{
    int64_t low = type->true_lb, high = type->true_lb + type->true_extent,
            last = (count - 1) * type->extent;
    low += last < 0 ? last : 0;
    high += last > 0 ? last : 0;
    if (high - low > SPAN_MAX)
        return false;
    ret->bytes = high - low;
    ret->memory = malloc((size_t)ret->bytes + 1);
    for (int64_t i = 0; i < ret->bytes; i++)
        ret->memory[i] = (char)(i * 7 + (i >> 8) * 13 + 1);
    ret->base = (char *)((uintptr_t)ret->memory - (uintptr_t)low);
    return true;
}

/* Copies the packed stream by the typemap, to `packed` or from it. */
static void reference_move(const struct map *map, int64_t extent, char *base, int64_t count,
                           char *packed, bool pack)
{
    for (int64_t i = 0; i < count; i++)
        for (int j = 0; j < map->count; j++) {
            if (map->size[j] <= 0)
                continue;
            char *at = (char *)((uintptr_t)base + (uintptr_t)(i * extent + map->at[j]));
            if (pack)
                memcpy(packed, at, (size_t)map->size[j]);
            else
                memcpy(at, packed, (size_t)map->size[j]);
            packed += map->size[j];
        }
}

static int64_t step(int64_t left)
{
    int64_t most = choose(0, 2) ? 40 : left;
    int64_t part = choose(1, most > 1 ? most : 1);
    return part < left ? part : left;
}

static void check_pack(const struct tern_type *type, struct buffer *buffer, int64_t count,
                       const char *expected, int64_t bytes)
{
    struct tern_cursor cursor;
    char *packed = calloc(1, (size_t)bytes + 1);
    tern_cursor_init(&cursor, type, buffer->base, count);
    ck_assert_int_eq(cursor.length, bytes);
    while (cursor.offset < bytes) {
        int64_t part = step(bytes - cursor.offset), before = cursor.offset;
        ck_assert_int_eq(tern_cursor_pack(&cursor, packed + before, (size_t)part), part);
        ck_assert_int_eq(cursor.offset, before + part);
    }
    ck_assert_int_eq(tern_cursor_pack(&cursor, packed, 1), 0);
    ck_assert_mem_eq(packed, expected, (size_t)bytes);
    for (int i = 0; i < 5 && bytes > 0; i++) {
        int64_t from = choose(0, bytes), part = choose(0, bytes);
        tern_cursor_seek(&cursor, from);
        size_t moved = tern_cursor_pack(&cursor, packed, (size_t)part);
        ck_assert_int_eq((int64_t)moved, part < bytes - from ? part : bytes - from);
        ck_assert_mem_eq(packed, expected + from, moved);
    }
    free(packed);
}

static void check_runs(const struct tern_type *type, struct buffer *buffer, int64_t count,
                       const char *expected, int64_t bytes)
{
    struct tern_cursor cursor;
    tern_cursor_init(&cursor, type, buffer->base, count);
    while (cursor.offset < bytes) {
        struct iovec runs[6];
        int max = (int)choose(1, 6);
        int64_t before = cursor.offset, most = step(bytes - before);
        size_t covered;
        int found = tern_cursor_runs(&cursor, runs, max, (size_t)most, &covered);
        ck_assert(found >= 1 && found <= max);
        ck_assert(covered > 0 && (int64_t)covered <= most);
        ck_assert_int_eq(cursor.offset, before + (int64_t)covered);
        size_t sum = 0;
        for (int i = 0; i < found; i++) {
            ck_assert(runs[i].iov_len > 0);
            ck_assert(i == 0 ||
                      (char *)runs[i - 1].iov_base + runs[i - 1].iov_len != runs[i].iov_base);
            ck_assert_mem_eq(runs[i].iov_base, expected + before + (int64_t)sum, runs[i].iov_len);
            sum += runs[i].iov_len;
        }
        ck_assert_uint_eq(sum, covered);
        if (found < max)
            ck_assert_int_eq((int64_t)covered, most);
    }
    ck_assert_int_eq(tern_cursor_runs(&cursor, NULL, 0, 1, NULL), 0);
}

static void check_unpack(const struct tern_type *type, const struct map *map, struct buffer *buffer,
                         int64_t count, int64_t bytes)
{
    char *packed = malloc((size_t)bytes + 1);
    for (int64_t i = 0; i < bytes; i++)
        packed[i] = (char)choose(0, 255);
    char *expected = malloc((size_t)buffer->bytes + 1), *before = malloc((size_t)buffer->bytes + 1);
    memcpy(before, buffer->memory, (size_t)buffer->bytes);
    reference_move(map, type->extent, buffer->base, count, packed, false);
    memcpy(expected, buffer->memory, (size_t)buffer->bytes);
    memcpy(buffer->memory, before, (size_t)buffer->bytes);
    struct tern_cursor cursor;
    tern_cursor_init(&cursor, type, buffer->base, count);
    while (cursor.offset < bytes) {
        int64_t at = cursor.offset, part = step(bytes - at);
        ck_assert_int_eq(tern_cursor_unpack(&cursor, packed + at, (size_t)part), part);
    }
    if (buffer->bytes > 0)
        ck_assert_mem_eq(buffer->memory, expected, (size_t)buffer->bytes);
    free(packed);
    free(expected);
    free(before);
}

static void check_moves(struct tern_type *type, const struct map *map)
{
    struct buffer buffer;
    int64_t count = choose(0, 4), bytes = count * type->size;
    if (!make_buffer(type, count, &buffer))
        return;
    char *expected = malloc((size_t)bytes + 1);
    reference_move(map, type->extent, buffer.base, count, expected, true);
    check_pack(type, &buffer, count, expected, bytes);
    check_runs(type, &buffer, count, expected, bytes);
    void *run;
    if (tern_type_run(type, buffer.base, count, &run) && bytes > 0)
        ck_assert_mem_eq(run, expected, (size_t)bytes);
    check_unpack(type, map, &buffer, count, bytes);
    free(expected);
    free(buffer.memory);
}

static void check_random_type(void)
{
    struct tern_type type;
    struct map *map = calloc(1, sizeof *map);
    if (make_random((int)choose(1, 5), &type, map)) {
        check_moves(&type, map);
        tern_type_drop(&type);
    }
    free(map);
}

START_TEST(random_types_follow_their_typemap)
{
    seed = 0x9e3779b97f4a7c15u + (uint64_t)_i * 0x2545f4914f6cdd1du;
    for (int i = 0; i < 300; i++)
        check_random_type();
}
END_TEST

/* Lists of many runs, whose lengths are multiples of `unit` up to `most`; some touch the one before. By themselves, and as a
 * part of another type. */
static void check_list(int unit, int most, int count)
{
    int lengths[500];
    int64_t places[500], next = choose(-50, 50);
    struct map *map = calloc(1, sizeof *map);
    struct tern_type list, row;
    for (int i = 0; i < count; i++) {
        lengths[i] = unit * (int)choose(1, most);
        places[i] = next + (choose(0, 2) ? unit * choose(0, 3) : choose(0, 9));
        next = places[i] + lengths[i];
        map->at[i] = places[i];
        map->size[i] = lengths[i];
    }
    map->count = count;
    ck_assert_int_eq(tern_type_make_indexed(&basics[0], count, (struct tern_ints){lengths, 4},
                                            (struct tern_ints){places, 8}, 1, &list),
                     0);
    check_moves(&list, map);
    int64_t stride = list.extent + choose(0, 20), times = choose(2, MAP_MAX / count < 4 ? 2 : 4);
    ck_assert_int_eq(tern_type_make_vector(&list, times, 1, stride, &row), 0);
    tern_type_drop(&list);
    for (int64_t i = 1; i < times; i++)
        for (int k = 0; k < count; k++) {
            map->at[map->count] = places[k] + i * stride;
            map->size[map->count++] = lengths[k];
        }
    check_moves(&row, map);
    tern_type_drop(&row);
    free(map);
}

START_TEST(long_lists_follow_their_typemap)
{
    static const int units[] = {1, 2, 4, 8, 12, 16, 64, 100};
    seed = 4711 + (uint64_t)_i;
    for (int i = 0; i < 100; i++)
        check_list(units[choose(0, 7)], (int)choose(1, choose(0, 4) ? 4 : 20), (int)choose(1, 500));
}
END_TEST

START_TEST(copy_between_types_moves_the_stream)
{
    seed = 77 + (uint64_t)_i;
    struct map *from_map = calloc(1, sizeof *from_map), *to_map = calloc(1, sizeof *to_map);
    for (int i = 0; i < 200; i++) {
        struct tern_type from, to;
        struct buffer in, out;
        if (!make_random(3, &from, from_map))
            continue;
        if (!make_random(3, &to, to_map)) {
            tern_type_drop(&from);
            continue;
        }
        int64_t from_count = choose(0, 30), to_count = choose(0, 30);
        bool have_in = make_buffer(&from, from_count, &in),
             have_out = make_buffer(&to, to_count, &out);
        if (have_in && have_out) {
            int64_t packed_in = from.size * from_count, packed_out = to.size * to_count;
            int64_t bytes = packed_in < packed_out ? packed_in : packed_out;
            char *stream = calloc(1, (size_t)(packed_in > packed_out ? packed_in : packed_out) + 1);
            char *expected = malloc((size_t)out.bytes + 1);
            /* what the destination holds beyond the bytes copied stays */
            reference_move(to_map, to.extent, out.base, to_count, stream, true);
            char *front = malloc((size_t)packed_in + 1);
            reference_move(from_map, from.extent, in.base, from_count, front, true);
            memcpy(stream, front, (size_t)bytes);
            char *before = malloc((size_t)out.bytes + 1);
            memcpy(before, out.memory, (size_t)out.bytes);
            struct tern_cursor cursor;
            tern_cursor_init(&cursor, &to, out.base, to_count);
            tern_cursor_unpack(&cursor, stream, (size_t)bytes);
            memcpy(expected, out.memory, (size_t)out.bytes);
            memcpy(out.memory, before, (size_t)out.bytes);
            ck_assert_int_eq(tern_type_copy(out.base, to_count, &to, in.base, from_count, &from),
                             bytes);
            if (out.bytes > 0)
                ck_assert_mem_eq(out.memory, expected, (size_t)out.bytes);
            free(before);
            free(front);
            free(stream);
            free(expected);
        }
        if (have_in)
            free(in.memory);
        if (have_out)
            free(out.memory);
        tern_type_drop(&from);
        tern_type_drop(&to);
    }
    free(from_map);
    free(to_map);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("type");
    TCase *tests = suite_case(suite, "type");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, random_types_follow_their_typemap, 0, 10);
    tcase_add_loop_test(tests, long_lists_follow_their_typemap, 0, 4);
    tcase_add_loop_test(tests, copy_between_types_moves_the_stream, 0, 3);
    return suite_run(suite);
}
