/* SPDX-License-Identifier: BSD-3-Clause */
/* Random datatypes of every constructor, and what they mean, found out in the most naive way: the
 * tree of constructors is taken apart with MPI_Type_get_contents_c and written out as the list of
 * all basic elements with their displacements, as MPI-4.1 defines a typemap. Nothing here knows how
 * the library lays types out, packs or converts. */
#ifndef TEST_MPI_RANDOM_TYPES_H
#define TEST_MPI_RANDOM_TYPES_H

#include "check.h"
#include <complex.h>
#include <stdbool.h>
#include <wchar.h>

/* ---- basic elements ---- */

/* How an element becomes external32: `units` numbers whose bytes are swapped, or otherwise. */
enum how { SWAP, SIGNED_LONG, UNSIGNED_LONG, WIDE, TRUTH, X87 };

struct basic {
    int bytes, alignment, units;
    enum how how;
};

static inline int external_bytes(const struct basic *basic)
{
    switch (basic->how) {
    case SIGNED_LONG:
    case UNSIGNED_LONG: return 4;
    case WIDE: return 2;
    default: return basic->bytes;
    }
}

static const struct basic int1 = { 1, 1, 1, SWAP }, int2 = { 2, 2, 1, SWAP }, int4 = { 4, 4, 1, SWAP },
    int8 = { 8, 8, 1, SWAP }, int16 = { 16, 16, 1, SWAP }, slong = { 8, 8, 1, SIGNED_LONG },
    ulong_ = { 8, 8, 1, UNSIGNED_LONG }, wide = { 4, 4, 1, WIDE }, truth1 = { 1, 1, 1, TRUTH },
    truth4 = { 4, 4, 1, TRUTH }, x87 = { 16, 16, 1, X87 }, complex8 = { 8, 4, 2, SWAP },
    complex16 = { 16, 8, 2, SWAP }, complex_x87 = { 32, 16, 2, X87 };

/* A predefined type: one element, or the two of a pair, the second one `second` bytes on. */
struct named {
    MPI_Datatype type;
    const struct basic *basic, *other;
    int second, extent;
};

static struct named named[40];
static int named_count;

static inline void add_named(MPI_Datatype type, const struct basic *basic, const struct basic *other,
                             int second, int extent)
{
    named[named_count++] = (struct named) { type, basic, other, second, extent };
}

#define ADD_PAIR(mpi, basic, c) \
    add_named(mpi, basic, &int4, sizeof(c), sizeof(struct { c value; int index; }))

static inline void make_named(void)
{
    MPI_Datatype f90;
    add_named(MPI_CHAR, &int1, NULL, 0, 1);
    add_named(MPI_BYTE, &int1, NULL, 0, 1);
    add_named(MPI_UINT8_T, &int1, NULL, 0, 1);
    add_named(MPI_SHORT, &int2, NULL, 0, 2);
    add_named(MPI_INT, &int4, NULL, 0, 4);
    add_named(MPI_UNSIGNED, &int4, NULL, 0, 4);
    add_named(MPI_INT64_T, &int8, NULL, 0, 8);
    add_named(MPI_COUNT, &int8, NULL, 0, 8);
    add_named(MPI_LONG, &slong, NULL, 0, 8);
    add_named(MPI_UNSIGNED_LONG, &ulong_, NULL, 0, 8);
    add_named(MPI_FLOAT, &int4, NULL, 0, 4);
    add_named(MPI_DOUBLE, &int8, NULL, 0, 8);
    add_named(MPI_LONG_DOUBLE, &x87, NULL, 0, 16);
    add_named(MPI_WCHAR, &wide, NULL, 0, 4);
    add_named(MPI_C_BOOL, &truth1, NULL, 0, 1);
    add_named(MPI_LOGICAL, &truth4, NULL, 0, 4);
    add_named(MPI_REAL16, &int16, NULL, 0, 16);
    add_named(MPI_C_FLOAT_COMPLEX, &complex8, NULL, 0, 8);
    add_named(MPI_DOUBLE_COMPLEX, &complex16, NULL, 0, 16);
    add_named(MPI_C_LONG_DOUBLE_COMPLEX, &complex_x87, NULL, 0, 32);
    add_named(MPI_2INT, &int4, &int4, 4, 8);
    ADD_PAIR(MPI_FLOAT_INT, &int4, float);
    ADD_PAIR(MPI_DOUBLE_INT, &int8, double);
    ADD_PAIR(MPI_LONG_INT, &slong, long);
    ADD_PAIR(MPI_LONG_DOUBLE_INT, &x87, long double);
    add_named(MPI_SHORT_INT, &int2, &int4, 4, 8);
    CHECK_OK(MPI_Type_create_f90_real(15, 307, &f90));
    add_named(f90, &int8, NULL, 0, 8);
    CHECK_OK(MPI_Type_create_f90_integer(9, &f90));
    add_named(f90, &int4, NULL, 0, 4);
}

/* ---- typemaps ---- */

struct element {
    MPI_Aint at;
    const struct basic *basic;
};

struct map {
    struct element *elements;
    int n, room;
    MPI_Aint lb, ub;
    bool bounded; /* lb and ub mean something */
    bool marked;  /* they come from MPI_Type_create_resized or the like, and outdo others */
    int alignment;
};

static inline void map_add(struct map *map, MPI_Aint at, const struct basic *basic)
{
    if (map->n == map->room) {
        map->room = 2 * map->room + 8;
        map->elements = realloc(map->elements, (size_t) map->room * sizeof *map->elements);
        if (map->elements == NULL)
            FAIL("no memory for %d elements", map->room);
    }
    map->elements[map->n++] = (struct element) { at, basic };
}

static inline void map_bound(struct map *map, MPI_Aint lb, MPI_Aint ub, bool marked)
{
    if (!map->bounded || (marked && !map->marked)) {
        map->lb = lb;
        map->ub = ub;
    } else if (marked == map->marked) {
        map->lb = lb < map->lb ? lb : map->lb;
        map->ub = ub > map->ub ? ub : map->ub;
    }
    map->bounded = true;
    map->marked |= marked;
}

/* `copies` of the child, the first one at `at`. */
static inline void map_place(struct map *map, const struct map *child, MPI_Aint at, long long copies)
{
    for (long long k = 0; k < copies; k++, at += child->ub - child->lb) {
        for (int i = 0; i < child->n; i++)
            map_add(map, at + child->elements[i].at, child->elements[i].basic);
        if (child->n > 0 || child->marked)
            map_bound(map, at + child->lb, at + child->ub, child->marked);
        if (child->n > 0 && child->alignment > map->alignment)
            map->alignment = child->alignment;
    }
}

static inline void map_close(struct map *map)
{
    MPI_Aint over = (map->ub - map->lb) % map->alignment;
    if (!map->marked && over > 0)
        map->ub += map->alignment - over;
}

static inline struct map map_of(MPI_Datatype type);

/* One index of each dimension after the other, as the array lies in memory; true while there is one. */
static inline bool next_index(int dims, const long long sizes[], bool fortran, long long index[])
{
    for (int i = 0; i < dims; i++) {
        int dim = fortran ? i : dims - 1 - i;
        if (++index[dim] < sizes[dim])
            return true;
        index[dim] = 0;
    }
    return false;
}

static inline long long linear_index(int dims, const long long sizes[], bool fortran,
                                     const long long index[])
{
    long long at = 0;
    for (int i = 0; i < dims; i++) {
        int dim = fortran ? dims - 1 - i : i;
        at = at * sizes[dim] + index[dim];
    }
    return at;
}

/* n: ndims, sizes, subsizes, starts, order */
static inline void map_subarray(struct map *map, const struct map *child, const long long n[])
{
    int dims = (int) n[0];
    const long long *sizes = n + 1, *subsizes = sizes + dims, *starts = subsizes + dims;
    bool fortran = starts[dims] == MPI_ORDER_FORTRAN;
    long long index[4] = { 0 }, place[4], all = 1;
    MPI_Aint extent = child->ub - child->lb;
    do {
        for (int i = 0; i < dims; i++)
            place[i] = starts[i] + index[i];
        map_place(map, child, linear_index(dims, sizes, fortran, place) * extent, 1);
    } while (next_index(dims, subsizes, fortran, index));
    for (int i = 0; i < dims; i++)
        all *= sizes[i];
    map_bound(map, 0, 0, true);
    map->lb = 0;
    map->ub = all * extent;
}

/* n: size, rank, ndims, gsizes, distribs, dargs, psizes, order */
static inline void map_darray(struct map *map, const struct map *child, const long long n[])
{
    int dims = (int) n[2];
    const long long *sizes = n + 3, *distribs = sizes + dims, *dargs = distribs + dims,
                    *grid = dargs + dims;
    bool fortran = grid[dims] == MPI_ORDER_FORTRAN;
    long long index[4] = { 0 }, own[4], rest = n[1], all = 1;
    MPI_Aint extent = child->ub - child->lb;
    for (int i = dims - 1; i >= 0; i--) {
        own[i] = rest % grid[i];
        rest /= grid[i];
    }
    do {
        bool mine = true;
        for (int i = 0; i < dims; i++) {
            long long block = dargs[i];
            if (distribs[i] == MPI_DISTRIBUTE_NONE)
                block = sizes[i];
            else if (block == MPI_DISTRIBUTE_DFLT_DARG)
                block = distribs[i] == MPI_DISTRIBUTE_CYCLIC ? 1 : (sizes[i] + grid[i] - 1) / grid[i];
            mine = mine && index[i] / block % grid[i] == own[i];
        }
        if (mine)
            map_place(map, child, linear_index(dims, sizes, fortran, index) * extent, 1);
    } while (next_index(dims, sizes, fortran, index));
    for (int i = 0; i < dims; i++)
        all *= sizes[i];
    map_bound(map, 0, 0, true);
    map->lb = 0;
    map->ub = all * extent;
}

/* n: the numbers of the constructor, in the order of its arguments. */
static inline struct map map_built(int combiner, const long long n[], const struct map child[])
{
    struct map map = { .alignment = 1 };
    MPI_Aint extent = child[0].ub - child[0].lb;
    long long count = n[0];
    switch (combiner) {
    case MPI_COMBINER_DUP: map_place(&map, child, 0, 1); break;
    case MPI_COMBINER_CONTIGUOUS: map_place(&map, child, 0, count); break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        for (long long i = 0; i < count; i++)
            map_place(&map, child, i * n[2] * (combiner == MPI_COMBINER_VECTOR ? extent : 1), n[1]);
        break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
        for (long long i = 0; i < count; i++)
            map_place(&map, child, n[1 + count + i] * (combiner == MPI_COMBINER_INDEXED ? extent : 1),
                      n[1 + i]);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        for (long long i = 0; i < count; i++)
            map_place(&map, child,
                      n[2 + i] * (combiner == MPI_COMBINER_INDEXED_BLOCK ? extent : 1), n[1]);
        break;
    case MPI_COMBINER_STRUCT:
        for (long long i = 0; i < count; i++)
            map_place(&map, &child[i], n[1 + count + i], n[1 + i]);
        break;
    case MPI_COMBINER_SUBARRAY: map_subarray(&map, child, n); break;
    case MPI_COMBINER_DARRAY: map_darray(&map, child, n); break;
    case MPI_COMBINER_RESIZED:
        map_place(&map, child, 0, 1);
        map.marked = map.bounded = true;
        map.lb = n[0];
        map.ub = n[0] + n[1];
        break;
    default: FAIL("combiner %d", combiner);
    }
    map_close(&map);
    return map;
}

static inline struct map map_named(MPI_Datatype type)
{
    struct map map = { .bounded = true, .alignment = 1 };
    for (int i = 0; i < named_count; i++)
        if (named[i].type == type) {
            const struct named *t = &named[i];
            map_add(&map, 0, t->basic);
            if (t->other)
                map_add(&map, t->second, t->other);
            map.ub = t->extent;
            map.alignment = t->basic->alignment;
            if (t->other && t->other->alignment > map.alignment)
                map.alignment = t->other->alignment;
            return map;
        }
    FAIL("a predefined type that was not used");
}

static inline struct map map_of(MPI_Datatype type)
{
    MPI_Count sizes[4];
    int combiner, ints[64];
    MPI_Aint addresses[64];
    MPI_Count counts[64];
    long long n[64], *to = n;
    MPI_Datatype types[16];
    struct map children[16] = { { 0 } }, map;
    CHECK_OK(MPI_Type_get_envelope_c(type, &sizes[0], &sizes[1], &sizes[2], &sizes[3], &combiner));
    if (sizes[3] == 0 && combiner != MPI_COMBINER_STRUCT)
        return map_named(type);
    CHECK_OK(MPI_Type_get_contents_c(type, 64, 64, 64, 16, ints, addresses, counts, types));
    int first = combiner == MPI_COMBINER_SUBARRAY ? 1 : combiner == MPI_COMBINER_DARRAY ? 3 : 0;
    for (int i = 0; i < sizes[0] && i < first; i++)
        *to++ = ints[i];
    for (int i = 0; i < sizes[2]; i++)
        *to++ = counts[i];
    for (int i = first; i < sizes[0]; i++)
        *to++ = ints[i];
    for (int i = 0; i < sizes[1]; i++)
        *to++ = addresses[i];
    for (int i = 0; i < sizes[3]; i++)
        children[i] = map_of(types[i]);
    map = map_built(combiner, n, children);
    for (int i = 0; i < sizes[3]; i++) {
        free(children[i].elements);
        CHECK_OK(MPI_Type_get_envelope_c(types[i], &sizes[0], &sizes[1], &sizes[2], &counts[0],
                                         &combiner));
        if (counts[0] > 0 || combiner == MPI_COMBINER_STRUCT)
            CHECK_OK(MPI_Type_free(&types[i]));
    }
    return map;
}

/* ---- random types ---- */

static uint64_t dice;

static inline int among(int low, int high)
{
    return low + random_below(&dice, high - low + 1);
}

/* Now and then nothing. */
static inline int some(int most)
{
    return among(0, 14) ? among(1, most) : 0;
}

static inline MPI_Datatype random_derived(int depth);

/* To be freed unless it is predefined. */
static inline MPI_Datatype random_type(int depth, bool *ret_derived)
{
    *ret_derived = depth > 0 && among(0, 9) > 0;
    return *ret_derived ? random_derived(depth) : named[among(0, named_count - 1)].type;
}

/* Either binding of a constructor; arrays of it are given in both widths. */
#define EITHER(name, ...) \
    CHECK_OK(large ? name##_c(__VA_ARGS__) : name(__VA_ARGS__))
#define EITHER2(name, wide_list, narrow_list) \
    CHECK_OK(large ? name##_c wide_list : name narrow_list)

static inline MPI_Datatype random_struct(int depth, bool large)
{
    int count = some(4), lengths[4];
    MPI_Aint places[4];
    MPI_Count lengths_c[4], places_c[4];
    MPI_Datatype types[4], type;
    bool derived[4];
    for (int i = 0; i < count; i++) {
        lengths_c[i] = lengths[i] = some(2);
        places_c[i] = places[i] = among(-60, 200);
        types[i] = random_type(depth - 1, &derived[i]);
    }
    EITHER2(MPI_Type_create_struct, (count, lengths_c, places_c, types, &type),
            (count, lengths, places, types, &type));
    for (int i = 0; i < count; i++)
        if (derived[i])
            CHECK_OK(MPI_Type_free(&types[i]));
    return type;
}

static inline MPI_Datatype random_subarray(MPI_Datatype old, bool large)
{
    int dims = among(1, 4), sizes[4], subsizes[4], starts[4];
    int order = among(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Count sizes_c[4], subsizes_c[4], starts_c[4];
    MPI_Datatype type;
    for (int i = 0; i < dims; i++) {
        sizes_c[i] = sizes[i] = among(1, 4);
        subsizes_c[i] = subsizes[i] = among(1, sizes[i] < 2 ? sizes[i] : 2);
        starts_c[i] = starts[i] = among(0, sizes[i] - subsizes[i]);
    }
    EITHER2(MPI_Type_create_subarray, (dims, sizes_c, subsizes_c, starts_c, order, old, &type),
            (dims, sizes, subsizes, starts, order, old, &type));
    return type;
}

static inline MPI_Datatype random_darray(MPI_Datatype old, bool large)
{
    static const int kinds[] = { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC };
    int dims = among(1, 3), sizes[3], distribs[3], dargs[3], grid[3], all = 1;
    int order = among(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Count sizes_c[3];
    MPI_Datatype type;
    for (int i = 0; i < dims; i++) {
        sizes_c[i] = sizes[i] = among(1, 5);
        distribs[i] = kinds[among(0, 2)];
        grid[i] = distribs[i] == MPI_DISTRIBUTE_NONE ? 1 : among(1, 3);
        int share = (sizes[i] + grid[i] - 1) / grid[i];
        dargs[i] = among(0, 1) ? MPI_DISTRIBUTE_DFLT_DARG
                   : distribs[i] == MPI_DISTRIBUTE_BLOCK ? among(share, share + 1) : among(1, 3);
        all *= grid[i];
    }
    int place = among(0, all - 1);
    EITHER2(MPI_Type_create_darray,
            (all, place, dims, sizes_c, distribs, dargs, grid, order, old, &type),
            (all, place, dims, sizes, distribs, dargs, grid, order, old, &type));
    return type;
}

static inline MPI_Datatype random_derived(int depth)
{
    bool large = among(0, 1), derived;
    int kind = among(0, 12), count = some(3), length = some(3), lengths[3], places[3];
    MPI_Aint bytes[3];
    MPI_Count lengths_c[3], places_c[3], bytes_c[3];
    MPI_Datatype type;
    if (kind >= 11)
        return random_struct(depth, large);
    MPI_Datatype old = random_type(depth - 1, &derived);
    for (int i = 0; i < 3; i++) {
        lengths_c[i] = lengths[i] = some(3);
        places_c[i] = places[i] = among(-5, 9);
        bytes_c[i] = bytes[i] = among(-99, 200);
    }
    switch (kind) {
    case 0: EITHER(MPI_Type_contiguous, count, old, &type); break;
    case 1: EITHER(MPI_Type_vector, count, length, among(-4, 6), old, &type); break;
    case 2: EITHER(MPI_Type_create_hvector, count, length, among(-90, 150), old, &type); break;
    case 3:
        EITHER2(MPI_Type_indexed, (count, lengths_c, places_c, old, &type),
                (count, lengths, places, old, &type));
        break;
    case 4:
        EITHER2(MPI_Type_create_hindexed, (count, lengths_c, bytes_c, old, &type),
                (count, lengths, bytes, old, &type));
        break;
    case 5:
        EITHER2(MPI_Type_create_indexed_block, (count, length, places_c, old, &type),
                (count, length, places, old, &type));
        break;
    case 6:
        EITHER2(MPI_Type_create_hindexed_block, (count, length, bytes_c, old, &type),
                (count, length, bytes, old, &type));
        break;
    case 7: type = random_subarray(old, large); break;
    case 8: type = random_darray(old, large); break;
    case 9: EITHER(MPI_Type_create_resized, old, among(-40, 40), among(-80, 200), &type); break;
    default: CHECK_OK(MPI_Type_dup(old, &type)); break;
    }
    if (derived)
        CHECK_OK(MPI_Type_free(&old));
    return type;
}

#endif
