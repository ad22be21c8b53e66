/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 6 7 8; long: 13 16 */
/* Non-commutative operations see the ranks in order, for all counts, roots and reductions. */
#include "check.h"

/* Affine maps x -> a x + b modulo 2^32 compose associatively and not commutatively. */
struct map { uint32_t a, b; };

static struct map map_of(int r, int i)
{
    return (struct map) { 2 * (uint32_t) (r * 31 + i) + 3, (uint32_t) (r * 17 + i * 5 + 1) };
}

static struct map then(struct map first, struct map second)
{
    return (struct map) { first.a * second.a, first.b * second.a + second.b };
}

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    struct map *a = in, *b = inout;
    (void) type;
    for (int i = 0; i < *n; i++)
        b[i] = then(a[i], b[i]);
}

static void check_maps(const char *what, const struct map *got, int n, int first, int ranks)
{
    for (int i = 0; i < n; i++) {
        struct map expected = map_of(0, first + i);
        for (int r = 1; r < ranks; r++)
            expected = then(expected, map_of(r, first + i));
        if (got[i].a != expected.a || got[i].b != expected.b)
            FAIL("%s, %d of %d elements: got %u %u, expected %u %u", what, i, n, got[i].a, got[i].b,
                 expected.a, expected.b);
    }
}

int main(int argc, char **argv)
{
    static const int counts[] = { 1, 2, 7, 100, 3000, 40000 };
    start(&argc, &argv);
    MPI_Op op;
    MPI_Datatype type;
    int commutes = -1;
    CHECK_OK(MPI_Type_contiguous(2, MPI_UINT32_T, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Op_create(compose, 0, &op));
    CHECK_OK(MPI_Op_commutative(op, &commutes));
    CHECK_INT(commutes, 0);
    for (int c = 0; c < 6; c++) {
        int n = counts[c], total = n * size;
        struct map *in = allocate((size_t) total * sizeof *in);
        struct map *out = allocate((size_t) total * sizeof *out);
        for (int i = 0; i < total; i++)
            in[i] = map_of(rank, i);
        for (int root = 0; root < size; root++) {
            CHECK_OK(MPI_Reduce(in, out, n, type, op, root, MPI_COMM_WORLD));
            if (rank == root)
                check_maps("reduce", out, n, 0, size);
        }
        CHECK_OK(MPI_Allreduce(in, out, n, type, op, MPI_COMM_WORLD));
        check_maps("allreduce", out, n, 0, size);
        CHECK_OK(MPI_Scan(in, out, n, type, op, MPI_COMM_WORLD));
        check_maps("scan", out, n, 0, rank + 1);
        CHECK_OK(MPI_Exscan(in, out, n, type, op, MPI_COMM_WORLD));
        if (rank > 0)
            check_maps("exscan", out, n, 0, rank);
        if (n <= 3000) {
            int *shares = allocate((size_t) size * sizeof(int));
            for (int r = 0; r < size; r++)
                shares[r] = n;
            CHECK_OK(MPI_Reduce_scatter_block(in, out, n, type, op, MPI_COMM_WORLD));
            check_maps("reduce_scatter_block", out, n, rank * n, size);
            CHECK_OK(MPI_Reduce_scatter(in, out, shares, type, op, MPI_COMM_WORLD));
            check_maps("reduce_scatter", out, n, rank * n, size);
            free(shares);
        }
        memcpy(out, in, (size_t) n * sizeof *out);
        CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, out, n, type, op, MPI_COMM_WORLD));
        check_maps("allreduce in place", out, n, 0, size);
        free(in);
        free(out);
    }
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Type_free(&type));
    return end();
}
