/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* MPI_Type_create_resized sets the bounds, keeps the true ones, and its bounds stick in structs. */
#include "typemap.h"

int main(int argc, char **argv)
{
    static const struct { MPI_Aint lb, extent; } cases[] = {
        { 0, 4 }, { 0, 12 }, { -4, 8 }, { -8, 40 }, { 4, 16 }, { 0, 5 }, { 100, 24 },
    };
    start(&argc, &argv);
    struct typemap basic = map_basic(4), pair = map_vector(2, 1, 8, &basic), m;
    MPI_Datatype vector, type, outer;
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &vector));
    for (int i = 0; i < 7; i++) {
        CHECK_OK(MPI_Type_create_resized(MPI_INT, cases[i].lb, cases[i].extent, &type));
        m = map_resized(&basic, cases[i].lb, cases[i].extent);
        check_and_free("resized int", &type, &m);
        MPI_Aint extent = cases[i].extent < 12 ? cases[i].extent + 12 : cases[i].extent;
        CHECK_OK(MPI_Type_create_resized(vector, cases[i].lb, extent, &type));
        struct typemap inner = map_resized(&pair, cases[i].lb, extent);
        CHECK_OK(MPI_Type_vector(3, 2, 3, type, &outer));
        m = map_vector(3, 2, 3 * extent, &inner);
        check_and_free("vector of resized", &outer, &m);
        CHECK_OK(MPI_Type_free(&type));
        map_free(&inner);
    }
    /* Columns of a matrix: a vector resized to one element, several of them at once. */
    CHECK_OK(MPI_Type_vector(5, 1, 7, MPI_INT, &outer));
    CHECK_OK(MPI_Type_create_resized(outer, 0, 4, &type));
    struct typemap column = map_vector(5, 1, 28, &basic);
    m = map_resized(&column, 0, 4);
    map_free(&column);
    CHECK_OK(MPI_Type_free(&outer));
    check_and_free("columns", &type, &m);
    /* In a struct the fixed bounds win over those of the other members, and padding is none. */
    CHECK_OK(MPI_Type_create_resized(MPI_INT, -4, 44, &type));
    struct typemap children[] = { map_resized(&basic, -4, 44), map_basic(1) };
    int lengths[] = { 1, 3 };
    MPI_Aint at[] = { 8, 60 };
    MPI_Datatype types[] = { type, MPI_CHAR };
    CHECK_OK(MPI_Type_create_struct(2, lengths, at, types, &outer));
    m = map_blocks(2, lengths, at, children, 0);
    CHECK_INT(m.lb, 4);
    CHECK_INT(m.ub, 48);
    check_bounds("struct with a resized member", outer, &m);
    map_free(&m);
    map_free(&children[0]);
    map_free(&children[1]);
    map_free(&pair);
    map_free(&basic);
    CHECK_OK(MPI_Type_free(&outer));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&vector));
    return end();
}
