/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Computes size, bounds and programs of derived types.
 *
 * Bounds follow the standard's typemap without building it: a block adds the bounds of its first
 * and last elements. Markers (MPI_LB, MPI_UB, a resize) are sticky: the lowest marked lower bound
 * prevails over any unmarked one. Without a marker the upper bound is rounded up so that the extent
 * is a multiple of the strictest alignment, as C compilers pad structures.
 */
#include "lib/type/layout.h"

#include "lib/type/type_program.h"
#include "lib/util/base/error.h"

/* A type while its parts are added. */
struct sum {
    /* valid: lb and true_lb; size, elements, narrowed, alignment, basic, pair, marks */
    struct tern_type type;
    int64_t ub, true_ub;
    bool has_lb, has_ub, has_data;
    bool overflow;
};

static int64_t add(struct sum *sum, int64_t a, int64_t b)
{
    int64_t result;
    sum->overflow |= __builtin_add_overflow(a, b, &result);
    return result;
}

static int64_t multiply(struct sum *sum, int64_t a, int64_t b)
{
    int64_t result;
    sum->overflow |= __builtin_mul_overflow(a, b, &result);
    return result;
}

static void add_lb(struct sum *sum, int64_t lb, bool marked)
{
    bool better = !sum->has_lb || (marked == sum->type.lb_marked ? lb < sum->type.lb : marked);
    if (!better)
        return;
    sum->type.lb = lb;
    sum->type.lb_marked = marked;
    sum->has_lb = true;
}

static void add_ub(struct sum *sum, int64_t ub, bool marked)
{
    bool better = !sum->has_ub || (marked == sum->type.ub_marked ? ub > sum->ub : marked);
    if (!better)
        return;
    sum->ub = ub;
    sum->type.ub_marked = marked;
    sum->has_ub = true;
}

/* Returns the distance from the first of `count` elements, `stride` apart, to the lowest (<= 0) or,
 * if `up`, to the highest one. */
static int64_t reach(struct sum *sum, int64_t count, int64_t stride, bool up)
{
    return (stride > 0) == up ? multiply(sum, count - 1, stride) : 0;
}

/* Adds `count` blocks of `blocklength` elements at `displacement`, `stride` bytes apart. */
static void add_blocks(struct sum *sum, const struct tern_type *old, int64_t displacement,
                       int64_t count, int64_t stride, int64_t blocklength)
{
    bool data = old->elements > 0;
    if (count == 0 || blocklength == 0 || !(data || old->lb_marked || old->ub_marked))
        return;
    int64_t low = add(sum, displacement,
                      add(sum, reach(sum, count, stride, false),
                          reach(sum, blocklength, old->extent, false)));
    int64_t high =
        add(sum, displacement,
            add(sum, reach(sum, count, stride, true), reach(sum, blocklength, old->extent, true)));
    if (data || old->lb_marked)
        add_lb(sum, add(sum, low, old->lb), old->lb_marked);
    if (data || old->ub_marked)
        add_ub(sum, add(sum, high, add(sum, old->lb, old->extent)), old->ub_marked);
    if (!data)
        return;

    int64_t true_lb = add(sum, low, old->true_lb),
            true_ub = add(sum, high, add(sum, old->true_lb, old->true_extent));
    struct tern_type *type = &sum->type;
    if (!sum->has_data || true_lb < type->true_lb)
        type->true_lb = true_lb;
    if (!sum->has_data || true_ub > sum->true_ub)
        sum->true_ub = true_ub;
    type->basic = !sum->has_data || type->basic == old->basic ? old->basic : TERN_BASIC_NONE;
    type->pair = !sum->has_data || type->pair == old->pair ? old->pair : 0;
    if (old->alignment > type->alignment)
        type->alignment = old->alignment;
    int64_t elements = multiply(sum, count, blocklength);
    type->size = add(sum, type->size, multiply(sum, elements, old->size));
    type->elements = add(sum, type->elements, multiply(sum, elements, old->elements));
    type->narrowed = add(sum, type->narrowed, multiply(sum, elements, old->narrowed));
    sum->has_data = true;
}

/* Computes the extents, after all parts were added. */
static int close_sum(struct sum *sum)
{
    struct tern_type *type = &sum->type;
    if (!sum->has_lb)
        type->lb = sum->has_ub && sum->ub < 0 ? sum->ub : 0;
    if (!sum->has_ub)
        sum->ub = type->lb;
    if (type->alignment == 0)
        type->alignment = 1;
    sum->overflow |= __builtin_sub_overflow(sum->ub, type->lb, &type->extent);
    sum->overflow |= __builtin_sub_overflow(sum->true_ub, type->true_lb, &type->true_extent);
    if (!type->ub_marked && !sum->overflow) {
        int64_t over = type->extent % type->alignment;
        if (over > 0)
            type->extent = add(sum, type->extent, type->alignment - over);
    }
    if (sum->overflow)
        return tern_error(TERN_ERR_ARG, "the datatype's size or bounds would be more than 2^63 - 1 "
                                        "bytes");
    return 0;
}

static void close_type(struct tern_type *type, struct tern_piece piece)
{
    type->start = piece.offset;
    type->program = piece.body;
    type->gapless = !piece.body;
    type->contiguous = type->gapless && (type->extent == type->size || type->size == 0);
}

static struct tern_piece piece_of(const struct tern_type *type)
{
    return (struct tern_piece){type->start, type->size, type->program};
}

/* Makes a block of the old type. The piece holds a reference. */
static int make_block(const struct tern_type *old, int64_t blocklength,
                      struct tern_piece *ret_piece)
{
    return tern_piece_repeat(piece_of(old), blocklength, old->extent, ret_piece);
}

int tern_type_make_vector(const struct tern_type *old, int64_t count, int64_t blocklength,
                          int64_t stride, struct tern_type *ret_type)
{
    struct sum sum = {0};
    add_blocks(&sum, old, 0, count, stride, blocklength);
    int error = close_sum(&sum);
    if (error)
        return error;
    struct tern_piece block, all;
    error = make_block(old, blocklength, &block);
    if (error)
        return error;
    error = tern_piece_repeat(block, count, stride, &all);
    tern_program_release(block.body);
    if (error)
        return error;
    close_type(&sum.type, all);
    *ret_type = sum.type;
    return 0;
}

/* Blocks made recently. Lists often have few block lengths, and equal blocks share a body. Then
 * tern_pieces_finish sees that they are equal, too. */
struct recent {
    const struct tern_type *type[8];
    int64_t blocklength[8];
    struct tern_piece piece[8];
    int next;
};

static int recent_block(struct recent *recent, const struct tern_type *old, int64_t blocklength,
                        struct tern_piece *ret_piece)
{
    for (int i = 0; i < 8; i++)
        if (recent->type[i] == old && recent->blocklength[i] == blocklength) {
            *ret_piece = recent->piece[i];
            return 0;
        }
    struct tern_piece piece;
    int error = make_block(old, blocklength, &piece);
    if (error)
        return error;
    int i = recent->next;
    tern_program_release(recent->piece[i].body);
    recent->type[i] = old;
    recent->blocklength[i] = blocklength;
    recent->piece[i] = piece;
    recent->next = (i + 1) % 8;
    *ret_piece = piece;
    return 0;
}

static void forget_recent(struct recent *recent)
{
    for (int i = 0; i < 8; i++)
        tern_program_release(recent->piece[i].body);
}

/* The parts of any list: block i has types[i] (or `old`) and lengths[i] (or `blocklength`). */
struct parts {
    const struct tern_type *old;
    const struct tern_type *const *types; /* NULL: all blocks are of `old` */
    int64_t blocklength;
    struct tern_ints blocklengths; /* values NULL: all blocks have `blocklength` */
    struct tern_ints displacements;
    int64_t unit;
};

static const struct tern_type *part_type(const struct parts *parts, int64_t i)
{
    return parts->types ? parts->types[i] : parts->old;
}

static int64_t part_length(const struct parts *parts, int64_t i)
{
    return parts->blocklengths.values ? tern_ints_at(parts->blocklengths, i) : parts->blocklength;
}

static int make_program(const struct parts *parts, int64_t count, struct tern_piece *ret_piece)
{
    struct tern_pieces pieces = {0};
    struct recent recent = {0};
    int error = 0;
    for (int64_t i = 0; i < count && !error; i++) {
        struct tern_piece block;
        error = recent_block(&recent, part_type(parts, i), part_length(parts, i), &block);
        if (error || block.size == 0)
            continue;
        block.offset += tern_ints_at(parts->displacements, i) * parts->unit;
        error = tern_pieces_append(&pieces, block);
    }
    forget_recent(&recent);
    if (error) {
        tern_pieces_drop(&pieces);
        return error;
    }
    return tern_pieces_finish(&pieces, ret_piece);
}

static int make_list(const struct parts *parts, int64_t count, struct tern_type *ret_type)
{
    struct sum sum = {0};
    for (int64_t i = 0; i < count; i++) {
        int64_t displacement = multiply(&sum, tern_ints_at(parts->displacements, i), parts->unit);
        add_blocks(&sum, part_type(parts, i), displacement, 1, 0, part_length(parts, i));
    }
    int error = close_sum(&sum);
    if (error)
        return error;
    struct tern_piece all;
    error = make_program(parts, count, &all);
    if (error)
        return error;
    close_type(&sum.type, all);
    *ret_type = sum.type;
    return 0;
}

int tern_type_make_blocks(const struct tern_type *old, int64_t count, int64_t blocklength,
                          struct tern_ints displacements, int64_t unit, struct tern_type *ret_type)
{
    struct parts parts = {.old = old,
                          .blocklength = blocklength,
                          .displacements = displacements,
                          .unit = unit};
    return make_list(&parts, count, ret_type);
}

int tern_type_make_indexed(const struct tern_type *old, int64_t count,
                           struct tern_ints blocklengths, struct tern_ints displacements,
                           int64_t unit, struct tern_type *ret_type)
{
    struct parts parts = {.old = old,
                          .blocklengths = blocklengths,
                          .displacements = displacements,
                          .unit = unit};
    return make_list(&parts, count, ret_type);
}

int tern_type_make_struct(const struct tern_type *const types[], int64_t count,
                          struct tern_ints blocklengths, struct tern_ints displacements,
                          struct tern_type *ret_type)
{
    struct parts parts = {.types = types,
                          .blocklengths = blocklengths,
                          .displacements = displacements,
                          .unit = 1};
    return make_list(&parts, count, ret_type);
}

/* Adds one dimension around `inner`: `count` slices, `slice` bytes apart, the first at `start`. */
static int add_dimension(struct tern_type *inner, int64_t start, int64_t count, int64_t slice)
{
    struct tern_type row, placed;
    int error = tern_type_make_vector(inner, count, 1, slice, &row);
    if (error)
        return error;
    struct tern_ints one = {(int64_t[]){start}, 8};
    error = tern_type_make_blocks(&row, 1, 1, one, slice, &placed);
    tern_type_drop(&row);
    if (error)
        return error;
    tern_type_drop(inner);
    *inner = placed;
    return 0;
}

int tern_type_make_subarray(const struct tern_type *old, int dims, struct tern_ints sizes,
                            struct tern_ints subsizes, struct tern_ints starts, bool fortran,
                            struct tern_type *ret_type)
{
    struct tern_type box;
    int64_t slice = old->extent; /* bytes of the whole array's slice below this dimension */
    tern_type_make_dup(old, &box);
    for (int i = 0; i < dims; i++) {
        int dim = fortran ? i : dims - 1 - i;
        int error =
            add_dimension(&box, tern_ints_at(starts, dim), tern_ints_at(subsizes, dim), slice);
        if (!error && __builtin_mul_overflow(slice, tern_ints_at(sizes, dim), &slice))
            error =
                tern_error(TERN_ERR_ARG, "the whole array of the subarray would have more than "
                                         "2^63 bytes");
        if (error) {
            tern_type_drop(&box);
            return error;
        }
    }
    int error = tern_type_make_resized(&box, 0, slice, ret_type);
    tern_type_drop(&box);
    return error;
}

int tern_type_make_resized(const struct tern_type *old, int64_t lb, int64_t extent,
                           struct tern_type *ret_type)
{
    int64_t ub;
    if (__builtin_add_overflow(lb, extent, &ub))
        return tern_error(TERN_ERR_ARG, "lb + extent is %lld + %lld, which is more than 2^63 - "
                                        "1", (long long)lb,
                          (long long)extent);
    struct tern_type type = *old;
    type.lb = lb;
    type.extent = extent;
    type.lb_marked = type.ub_marked = true;
    type.committed = false;
    tern_program_retain(type.program);
    close_type(&type, piece_of(&type));
    *ret_type = type;
    return 0;
}

void tern_type_make_dup(const struct tern_type *old, struct tern_type *ret_type)
{
    *ret_type = *old;
    tern_program_retain(ret_type->program);
}

void tern_type_drop(struct tern_type *type)
{
    tern_program_release(type->program);
    type->program = NULL;
}
