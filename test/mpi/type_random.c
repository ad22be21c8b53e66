/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; args: 1 600; long-args: 2 20000 */
/* Random trees of constructors, up to five deep, agree with typemaps. args: seed, how many. */
#include "typemap.h"

enum { MOST_PIECES = 1500 };
static uint64_t seed;
static char name[400];

static MPI_Datatype random_type(int depth, struct typemap *ret_map);

/* Displacements ascend without overlap, in steps of 16: no padding rule is in doubt. */
static void random_blocks(int n, const struct typemap children[], int one, int lengths[],
                          MPI_Aint at[])
{
    MPI_Aint end = -16 * random_below(&seed, 6);
    for (int i = 0; i < n; i++) {
        const struct typemap *c = &children[one ? 0 : i];
        MPI_Aint low, high, extent = c->ub - c->lb;
        lengths[i] = 1 + random_below(&seed, 3);
        map_true_bounds(c, &low, &high);
        low = low < c->lb ? low : c->lb;
        high = high > c->ub ? high : c->ub;
        MPI_Aint place = end - low;
        at[i] = (place > 0 ? (place + 15) / 16 : place / 16) * 16 + 16 * random_below(&seed, 3);
        end = at[i] + (lengths[i] - 1) * extent + high;
    }
}

static MPI_Datatype random_struct(int depth, struct typemap *ret_map)
{
    struct typemap children[3];
    MPI_Datatype types[3], type;
    MPI_Aint at[3];
    int lengths[3], n = 1 + random_below(&seed, 3);
    for (int i = 0; i < n; i++)
        types[i] = random_type(depth - 1, &children[i]);
    random_blocks(n, children, 0, lengths, at);
    CHECK_OK(MPI_Type_create_struct(n, lengths, at, types, &type));
    *ret_map = map_blocks(n, lengths, at, children, 0);
    for (int i = 0; i < n; i++) {
        CHECK_OK(MPI_Type_free(&types[i]));
        map_free(&children[i]);
    }
    return type;
}

static MPI_Datatype random_derived(int depth, struct typemap *ret_map)
{
    struct typemap child;
    MPI_Datatype inner = random_type(depth - 1, &child), type;
    int lengths[3], n = 1 + random_below(&seed, 3), length = 1 + random_below(&seed, 3);
    MPI_Aint at[3], extent = child.ub - child.lb, low, high;
    map_true_bounds(&child, &low, &high);
    MPI_Aint reach = (high > child.ub ? high : child.ub) - (low < child.lb ? low : child.lb);
    switch (random_below(&seed, 5)) {
    case 0:
        CHECK_OK(MPI_Type_contiguous(n, inner, &type));
        *ret_map = map_vector(1, n, 0, &child);
        break;
    case 1: {
        int stride = length + random_below(&seed, 3);
        CHECK_OK(MPI_Type_vector(n, length, stride, inner, &type));
        *ret_map = map_vector(n, length, stride * extent, &child);
        break;
    }
    case 2: {
        MPI_Aint stride = ((length - 1) * extent + reach + 15) / 16 * 16;
        stride *= random_below(&seed, 2) ? 1 : -1;
        CHECK_OK(MPI_Type_create_hvector(n, length, stride, inner, &type));
        *ret_map = map_vector(n, length, stride, &child);
        break;
    }
    case 3:
        random_blocks(n, &child, 1, lengths, at);
        CHECK_OK(MPI_Type_create_hindexed(n, lengths, at, inner, &type));
        *ret_map = map_blocks(n, lengths, at, &child, 1);
        break;
    default: {
        MPI_Aint bytes = (reach + 15) / 16 * 16 + 16 * random_below(&seed, 2);
        MPI_Aint lb = low / 16 * 16 - 16 * random_below(&seed, 3);
        CHECK_OK(MPI_Type_create_resized(inner, lb, bytes, &type));
        *ret_map = map_resized(&child, lb, bytes);
        break;
    }
    }
    CHECK_OK(MPI_Type_free(&inner));
    map_free(&child);
    return type;
}

static MPI_Datatype random_type(int depth, struct typemap *ret_map)
{
    static const int sizes[] = { 1, 2, 4, 8 };
    MPI_Datatype basics[] = { MPI_SIGNED_CHAR, MPI_SHORT, MPI_FLOAT, MPI_LONG }, type;
    if (depth == 0 || random_below(&seed, 8) == 0) {
        int b = random_below(&seed, 4);
        CHECK_OK(MPI_Type_dup(basics[b], &type));
        *ret_map = map_basic(sizes[b]);
        return type;
    }
    return random_below(&seed, 3) ? random_derived(depth, ret_map) : random_struct(depth, ret_map);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int first = argument(argc, argv, 1), many = argc > 2 ? atoi(argv[2]) : 600;
    for (int i = 0; i < many; i++) {
        struct typemap m;
        seed = (uint64_t) first * 1000003 + (uint64_t) i;
        (void) random_next(&seed);
        MPI_Datatype type = random_type(1 + i % 5, &m);
        snprintf(name, sizeof name, "type %d of seed %d", i, first);
        if (m.n > MOST_PIECES) {
            check_bounds(name, type, &m);
            CHECK_OK(MPI_Type_free(&type));
            map_free(&m);
        } else {
            check_and_free(name, &type, &m);
        }
    }
    return end();
}
