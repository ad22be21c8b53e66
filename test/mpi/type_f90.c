/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Types of Fortran kinds: predefined, one handle for each (p, r), with their arguments as contents. */
#include "check.h"
#include <complex.h>

static void expect(MPI_Datatype type, int combiner, int p, int r, int bytes)
{
    int got, integers, addresses, types, kind, contents[2] = { 0, 0 };
    MPI_Aint lb, extent, no_address;
    MPI_Datatype no_type;
    CHECK_OK(MPI_Type_size(type, &got));
    CHECK_INT(got, bytes);
    CHECK_OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK_INT(lb, 0);
    CHECK_INT(extent, bytes);
    CHECK_OK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &kind));
    CHECK_INT(kind, combiner);
    CHECK_INT(integers, combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2);
    CHECK_INT(addresses, 0);
    CHECK_INT(types, 0);
    CHECK_OK(MPI_Type_get_contents(type, integers, 0, 0, contents, &no_address, &no_type));
    CHECK_INT(contents[integers - 1], r);
    if (integers == 2)
        CHECK_INT(contents[0], p);
    /* Predefined: committed, and not to be freed. */
    MPI_Datatype copy = type;
    CHECK_CLASS(MPI_Type_free(&copy), MPI_ERR_TYPE);
    CHECK(copy == type);
    CHECK_OK(MPI_Type_commit(&copy));
}

static void reals(void)
{
    static const struct { int p, r, bytes; } rows[] = {
        { 0, 0, 4 }, { 6, 37, 4 }, { 7, 37, 8 }, { 6, 38, 8 }, { 15, 307, 8 }, { 16, 0, 16 },
        { 15, 308, 16 }, { 18, 4931, 16 }, { 19, 10, 16 }, { 33, 4931, 16 }, { MPI_UNDEFINED, 37, 4 },
        { MPI_UNDEFINED, 38, 8 }, { 6, MPI_UNDEFINED, 4 }, { 15, MPI_UNDEFINED, 8 },
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    MPI_Datatype real[ROWS], pair[ROWS], again;
    for (int i = 0; i < ROWS; i++) {
        CHECK_OK(MPI_Type_create_f90_real(rows[i].p, rows[i].r, &real[i]));
        CHECK_OK(MPI_Type_create_f90_complex(rows[i].p, rows[i].r, &pair[i]));
        expect(real[i], MPI_COMBINER_F90_REAL, rows[i].p, rows[i].r, rows[i].bytes);
        expect(pair[i], MPI_COMBINER_F90_COMPLEX, rows[i].p, rows[i].r, 2 * rows[i].bytes);
        for (int k = 0; k < i; k++)
            CHECK(real[k] != real[i] && pair[k] != pair[i]);
    }
    for (int i = 0; i < ROWS; i++) {
        CHECK_OK(MPI_Type_create_f90_real(rows[i].p, rows[i].r, &again));
        CHECK(again == real[i]);
        CHECK_OK(MPI_Type_create_f90_complex(rows[i].p, rows[i].r, &again));
        CHECK(again == pair[i]);
    }
    static const int wrong[][2] = { { 34, 0 }, { 0, 4932 }, { MPI_UNDEFINED, MPI_UNDEFINED } };
    for (int i = 0; i < 3; i++) {
        CHECK_CLASS(MPI_Type_create_f90_real(wrong[i][0], wrong[i][1], &again), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Type_create_f90_complex(wrong[i][0], wrong[i][1], &again), MPI_ERR_ARG);
    }
}

static void integers(void)
{
    MPI_Datatype type, again;
    for (int r = 0; r <= 38; r++) {
        CHECK_OK(MPI_Type_create_f90_integer(r, &type));
        CHECK_OK(MPI_Type_create_f90_integer(r, &again));
        CHECK(type == again);
        expect(type, MPI_COMBINER_F90_INTEGER, 0, r,
               r <= 2 ? 1 : r <= 4 ? 2 : r <= 9 ? 4 : r <= 18 ? 8 : 16);
    }
    CHECK_CLASS(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);
}

/* Used like any other: in messages, reductions, other types. */
static void use(void)
{
    MPI_Datatype number, whole, pair, vector;
    CHECK_OK(MPI_Type_create_f90_real(15, 307, &number));
    CHECK_OK(MPI_Type_create_f90_integer(9, &whole));
    CHECK_OK(MPI_Type_create_f90_complex(6, 37, &pair));
    double a = rank + 1, sum = 0;
    int32_t n = 1 << rank, bits = 0;
    float complex z = rank + 1 + I, product = 0, expected = 1;
    CHECK_OK(MPI_Allreduce(&a, &sum, 1, number, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == size * (size + 1) / 2);
    CHECK_OK(MPI_Allreduce(&n, &bits, 1, whole, MPI_BOR, MPI_COMM_WORLD));
    CHECK_INT(bits, (1 << size) - 1);
    CHECK_OK(MPI_Allreduce(&z, &product, 1, pair, MPI_PROD, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        expected *= i + 1 + I;
    CHECK(product == expected);
    CHECK_CLASS(MPI_Allreduce(&z, &product, 1, pair, MPI_MAX, MPI_COMM_WORLD), MPI_ERR_OP);

    double in[4] = { 0 }, out[] = { 1, 2, 3, 4 };
    MPI_Status status;
    int elements;
    CHECK_OK(MPI_Type_vector(2, 1, 2, number, &vector));
    CHECK_OK(MPI_Type_commit(&vector));
    CHECK_OK(MPI_Sendrecv(out, 1, vector, rank, 5, in, 3, number, rank, 5, MPI_COMM_WORLD, &status));
    CHECK(in[0] == 1 && in[1] == 3);
    CHECK_OK(MPI_Get_elements(&status, vector, &elements));
    CHECK_INT(elements, 2);
    CHECK_OK(MPI_Status_set_elements(&status, vector, 3));
    CHECK_OK(MPI_Get_elements(&status, vector, &elements));
    CHECK_INT(elements, 3);
    CHECK_OK(MPI_Type_free(&vector));

    MPI_Aint bytes;
    char form[] = "external32";
    CHECK_OK(MPI_Type_create_f90_integer(30, &whole));
    CHECK_OK(MPI_Pack_external_size(form, 1, whole, &bytes));
    CHECK_INT(bytes, 16);
    CHECK_OK(MPI_Type_create_f90_real(17, MPI_UNDEFINED, &number));
    CHECK_OK(MPI_Pack_external_size(form, 1, number, &bytes));
    CHECK_INT(bytes, 16);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    reals();
    integers();
    use();
    return end();
}
