/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* MPI_Type_get_envelope and _get_contents give back how each type was made. */
#include "check.h"

static int ints[16];
static MPI_Aint addresses[16];
static MPI_Datatype parts[16];

static void expect(MPI_Datatype type, int combiner, int n_ints, int n_addresses, int n_types)
{
    int a, b, c, d;
    CHECK_OK(MPI_Type_get_envelope(type, &a, &b, &c, &d));
    CHECK_INT(d, combiner);
    CHECK_INT(a, n_ints);
    CHECK_INT(b, n_addresses);
    CHECK_INT(c, n_types);
    if (combiner != MPI_COMBINER_NAMED)
        CHECK_OK(MPI_Type_get_contents(type, a, b, c, ints, addresses, parts));
}

static void expect_ints(int n, const int expected[])
{
    for (int i = 0; i < n; i++)
        CHECK_INT(ints[i], expected[i]);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Datatype t, u;
    int lengths[] = { 1, 2, 3 }, places[] = { 4, 8, 15 }, starts[] = { 0, 1, 2 };
    MPI_Aint at[] = { 0, 16, 64 };
    MPI_Datatype types[] = { MPI_INT, MPI_CHAR, MPI_DOUBLE };
    expect(MPI_INT, MPI_COMBINER_NAMED, 0, 0, 0);
    expect(MPI_DOUBLE_INT, MPI_COMBINER_NAMED, 0, 0, 0);

    CHECK_OK(MPI_Type_contiguous(5, MPI_INT, &t));
    expect(t, MPI_COMBINER_CONTIGUOUS, 1, 0, 1);
    expect_ints(1, (int[]) { 5 });
    CHECK(parts[0] == MPI_INT);
    /* A derived part comes back as a handle of its own, usable after its original is freed. */
    CHECK_OK(MPI_Type_vector(2, 3, 4, t, &u));
    CHECK_OK(MPI_Type_free(&t));
    expect(u, MPI_COMBINER_VECTOR, 3, 0, 1);
    expect_ints(3, (int[]) { 2, 3, 4 });
    t = parts[0];
    CHECK_OK(MPI_Type_free(&u));
    expect(t, MPI_COMBINER_CONTIGUOUS, 1, 0, 1);
    expect_ints(1, (int[]) { 5 });
    CHECK_OK(MPI_Type_free(&t));

    CHECK_OK(MPI_Type_create_hvector(2, 3, 40, MPI_CHAR, &t));
    expect(t, MPI_COMBINER_HVECTOR, 2, 1, 1);
    expect_ints(2, (int[]) { 2, 3 });
    CHECK_INT(addresses[0], 40);
    CHECK_OK(MPI_Type_free(&t));
    CHECK_OK(MPI_Type_indexed(3, lengths, places, MPI_INT, &t));
    expect(t, MPI_COMBINER_INDEXED, 7, 0, 1);
    expect_ints(7, (int[]) { 3, 1, 2, 3, 4, 8, 15 });
    CHECK_OK(MPI_Type_free(&t));
    CHECK_OK(MPI_Type_create_hindexed(3, lengths, at, MPI_INT, &t));
    expect(t, MPI_COMBINER_HINDEXED, 4, 3, 1);
    expect_ints(4, (int[]) { 3, 1, 2, 3 });
    CHECK_INT(addresses[2], 64);
    CHECK_OK(MPI_Type_free(&t));
    CHECK_OK(MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &t));
    expect(t, MPI_COMBINER_INDEXED_BLOCK, 5, 0, 1);
    expect_ints(5, (int[]) { 3, 2, 4, 8, 15 });
    CHECK_OK(MPI_Type_free(&t));
    CHECK_OK(MPI_Type_create_hindexed_block(3, 2, at, MPI_INT, &t));
    expect(t, MPI_COMBINER_HINDEXED_BLOCK, 2, 3, 1);
    expect_ints(2, (int[]) { 3, 2 });
    CHECK_INT(addresses[1], 16);
    CHECK_OK(MPI_Type_free(&t));
    CHECK_OK(MPI_Type_create_struct(3, lengths, at, types, &t));
    expect(t, MPI_COMBINER_STRUCT, 4, 3, 3);
    expect_ints(4, (int[]) { 3, 1, 2, 3 });
    CHECK(parts[0] == MPI_INT && parts[1] == MPI_CHAR && parts[2] == MPI_DOUBLE);
    CHECK_OK(MPI_Type_free(&t));
    CHECK_OK(MPI_Type_create_subarray(3, places, lengths, starts, MPI_ORDER_FORTRAN, MPI_INT, &t));
    expect(t, MPI_COMBINER_SUBARRAY, 11, 0, 1);
    expect_ints(11, (int[]) { 3, 4, 8, 15, 1, 2, 3, 0, 1, 2, MPI_ORDER_FORTRAN });
    CHECK_OK(MPI_Type_free(&t));
    CHECK_OK(MPI_Type_create_resized(MPI_SHORT, -8, 32, &t));
    expect(t, MPI_COMBINER_RESIZED, 0, 2, 1);
    CHECK_INT(addresses[0], -8);
    CHECK_INT(addresses[1], 32);
    CHECK(parts[0] == MPI_SHORT);
    CHECK_OK(MPI_Type_dup(t, &u));
    expect(u, MPI_COMBINER_DUP, 0, 0, 1);
    MPI_Datatype dupped = parts[0]; /* a new handle of ours */
    expect(dupped, MPI_COMBINER_RESIZED, 0, 2, 1);
    CHECK_OK(MPI_Type_free(&dupped));
    CHECK_OK(MPI_Type_free(&t));
    CHECK_OK(MPI_Type_free(&u));
    return end();
}
