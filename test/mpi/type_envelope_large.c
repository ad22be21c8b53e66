/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; needs: MPI_Type_get_envelope_c MPI_Type_get_contents_c MPI_Type_vector_c */
/* A type that a _c constructor made has large counts in its envelope, be they ever so small; the
 * calls without _c refuse it, and those with _c take the others too (MPI-4.1, 5.1.13). */
#include "check.h"

static int ints[16];
static MPI_Aint addresses[16];
static MPI_Count counts[16];
static MPI_Datatype parts[16];

static void expect(MPI_Datatype *type, int combiner, int n_ints, int n_addresses, int n_counts,
                   int n_types)
{
    MPI_Count a, b, c, d;
    int e, small[4];
    CHECK_OK(MPI_Type_get_envelope_c(*type, &a, &b, &c, &d, &e));
    CHECK_INT(e, combiner);
    CHECK_INT(a, n_ints);
    CHECK_INT(b, n_addresses);
    CHECK_INT(c, n_counts);
    CHECK_INT(d, n_types);
    CHECK_OK(MPI_Type_get_contents_c(*type, a, b, c, d, ints, addresses, counts, parts));
    if (n_counts > 0) {
        CHECK_CLASS(MPI_Type_get_envelope(*type, &small[0], &small[1], &small[2], &small[3]),
                    MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Type_get_contents(*type, 16, 16, 16, ints, addresses, parts), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Type_get_contents_c(*type, a, b, c - 1, d, ints, addresses, counts, parts),
                    MPI_ERR_ARG);
    } else {
        CHECK_OK(MPI_Type_get_envelope(*type, &small[0], &small[1], &small[2], &small[3]));
    }
    CHECK(parts[0] == MPI_INT);
    CHECK_OK(MPI_Type_free(type));
}

static void expect_counts(int n, const long long expected[])
{
    for (int i = 0; i < n; i++)
        CHECK_INT(counts[i], expected[i]);
}

#define COUNTS(n, ...) expect_counts(n, (long long[]) { __VA_ARGS__ })

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    MPI_Datatype t;
    MPI_Count lengths[] = { 1, 2 }, places[] = { 4, 8 }, starts[] = { 0, 1 };
    MPI_Datatype types[] = { MPI_INT, MPI_CHAR };
    CHECK_OK(MPI_Type_contiguous_c(5, MPI_INT, &t));
    expect(&t, MPI_COMBINER_CONTIGUOUS, 0, 0, 1, 1);
    COUNTS(1, 5);
    CHECK_OK(MPI_Type_vector_c(2, 3, 4, MPI_INT, &t));
    expect(&t, MPI_COMBINER_VECTOR, 0, 0, 3, 1);
    COUNTS(3, 2, 3, 4);
    CHECK_OK(MPI_Type_create_hvector_c(2, 3, 40, MPI_INT, &t));
    expect(&t, MPI_COMBINER_HVECTOR, 0, 0, 3, 1);
    COUNTS(3, 2, 3, 40);
    CHECK_OK(MPI_Type_indexed_c(2, lengths, places, MPI_INT, &t));
    expect(&t, MPI_COMBINER_INDEXED, 0, 0, 5, 1);
    COUNTS(5, 2, 1, 2, 4, 8);
    CHECK_OK(MPI_Type_indexed_c(0, lengths, places, MPI_INT, &t));
    expect(&t, MPI_COMBINER_INDEXED, 0, 0, 1, 1);
    CHECK_OK(MPI_Type_create_hindexed_c(2, lengths, places, MPI_INT, &t));
    expect(&t, MPI_COMBINER_HINDEXED, 0, 0, 5, 1);
    COUNTS(5, 2, 1, 2, 4, 8);
    CHECK_OK(MPI_Type_create_indexed_block_c(2, 3, places, MPI_INT, &t));
    expect(&t, MPI_COMBINER_INDEXED_BLOCK, 0, 0, 4, 1);
    COUNTS(4, 2, 3, 4, 8);
    CHECK_OK(MPI_Type_create_hindexed_block_c(2, 3, places, MPI_INT, &t));
    expect(&t, MPI_COMBINER_HINDEXED_BLOCK, 0, 0, 4, 1);
    COUNTS(4, 2, 3, 4, 8);
    CHECK_OK(MPI_Type_create_struct_c(2, lengths, places, types, &t));
    expect(&t, MPI_COMBINER_STRUCT, 0, 0, 5, 2);
    COUNTS(5, 2, 1, 2, 4, 8);
    CHECK_OK(MPI_Type_create_subarray_c(2, places, lengths, starts, MPI_ORDER_C, MPI_INT, &t));
    expect(&t, MPI_COMBINER_SUBARRAY, 2, 0, 6, 1);
    CHECK_INT(ints[0], 2);
    CHECK_INT(ints[1], MPI_ORDER_C);
    COUNTS(6, 4, 8, 1, 2, 0, 1);
    int distribs[] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC }, grid[] = { 2, 3 };
    int dargs[] = { MPI_DISTRIBUTE_DFLT_DARG, 2 };
    CHECK_OK(MPI_Type_create_darray_c(6, 1, 2, places, distribs, dargs, grid, MPI_ORDER_FORTRAN,
                                      MPI_INT, &t));
    expect(&t, MPI_COMBINER_DARRAY, 10, 0, 2, 1);
    COUNTS(2, 4, 8);
    int expected[] = { 6, 1, 2, distribs[0], distribs[1], dargs[0], 2, 2, 3, MPI_ORDER_FORTRAN };
    for (int i = 0; i < 10; i++)
        CHECK_INT(ints[i], expected[i]);
    CHECK_OK(MPI_Type_create_resized_c(MPI_INT, -8, 32, &t));
    expect(&t, MPI_COMBINER_RESIZED, 0, 0, 2, 1);
    COUNTS(2, -8, 32);

    CHECK_OK(MPI_Type_create_resized(MPI_INT, -8, 32, &t));
    expect(&t, MPI_COMBINER_RESIZED, 0, 2, 0, 1);
    CHECK_OK(MPI_Type_vector(2, 3, 4, MPI_INT, &t));
    expect(&t, MPI_COMBINER_VECTOR, 3, 0, 0, 1);
    CHECK_OK(MPI_Type_dup(MPI_INT, &t));
    expect(&t, MPI_COMBINER_DUP, 0, 0, 0, 1);
    return end();
}
