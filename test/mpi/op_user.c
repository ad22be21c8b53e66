/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8; long: 16 */
/* User operations get the type handle and true counts, on derived types too; in every reduction. */
#include "check.h"

struct pair { double sum; int count; };
static MPI_Datatype pair_type;

static void combine(void *in, void *inout, int *n, MPI_Datatype *type)
{
    struct pair *a = in, *b = inout;
    CHECK(*type == pair_type);
    CHECK(*n > 0);
    for (int i = 0; i < *n; i++) {
        b[i].sum += a[i].sum;
        b[i].count += a[i].count;
    }
}

static void check_pairs(const struct pair *got, int n, int first, int ranks)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += r * 0.5 + first + i;
        CHECK(got[i].sum == sum);
        CHECK_INT(got[i].count, ranks);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Op op;
    int lengths[] = { 1, 1 }, commutes = -1, n = 6;
    MPI_Aint at[] = { 0, 8 };
    MPI_Datatype types[] = { MPI_DOUBLE, MPI_INT };
    CHECK_OK(MPI_Type_create_struct(2, lengths, at, types, &pair_type));
    CHECK_OK(MPI_Type_commit(&pair_type));
    CHECK_OK(MPI_Op_create(combine, 1, &op));
    CHECK_OK(MPI_Op_commutative(op, &commutes));
    CHECK_INT(commutes, 1);
    for (int k = 0; k < 4; k++, n *= 20) {
        int total = n * size;
        struct pair *in = allocate((size_t) total * sizeof *in);
        struct pair *out = allocate((size_t) total * sizeof *out);
        for (int i = 0; i < total; i++)
            in[i] = (struct pair) { rank * 0.5 + i, 1 };
        CHECK_OK(MPI_Allreduce(in, out, n, pair_type, op, MPI_COMM_WORLD));
        check_pairs(out, n, 0, size);
        memset(out, 0, (size_t) n * sizeof *out);
        CHECK_OK(MPI_Reduce(in, out, n, pair_type, op, size - 1, MPI_COMM_WORLD));
        if (rank == size - 1)
            check_pairs(out, n, 0, size);
        CHECK_OK(MPI_Scan(in, out, n, pair_type, op, MPI_COMM_WORLD));
        check_pairs(out, n, 0, rank + 1);
        CHECK_OK(MPI_Reduce_scatter_block(in, out, n, pair_type, op, MPI_COMM_WORLD));
        check_pairs(out, n, rank * n, size);
        CHECK_OK(MPI_Exscan(in, out, n, pair_type, op, MPI_COMM_WORLD));
        if (rank > 0)
            check_pairs(out, n, 0, rank);
        memcpy(out, in, (size_t) n * sizeof *out);
        CHECK_OK(MPI_Reduce_local(in, out, n, pair_type, op));
        for (int i = 0; i < n; i++)
            CHECK(out[i].sum == 2 * in[i].sum && out[i].count == 2);
        free(in);
        free(out);
    }
    CHECK_OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);
    CHECK_OK(MPI_Type_free(&pair_type));
    return end();
}
