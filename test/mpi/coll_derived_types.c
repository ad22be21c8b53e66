/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 */
/* Collectives with gaps in the types: data lands in its places and gaps are never written. */
#include "check.h"

enum { N = 400 };

/* Element i of a buffer of "int, gap, gap" triples; gaps hold -9. */
static void prepare(int *buffer, int n, int base)
{
    for (int i = 0; i < n; i++) {
        buffer[3 * i] = base + i;
        buffer[3 * i + 1] = buffer[3 * i + 2] = -9;
    }
}

static void check_triples(const char *what, const int *buffer, int n, const int expected[])
{
    for (int i = 0; i < n; i++) {
        if (buffer[3 * i] != expected[i])
            FAIL("%s: element %d: got %d, expected %d", what, i, buffer[3 * i], expected[i]);
        if (buffer[3 * i + 1] != -9 || buffer[3 * i + 2] != -9)
            FAIL("%s: the gap after element %d was written", what, i);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Datatype t;
    int total = N * size;
    int *a = allocate((size_t) total * 12), *b = allocate((size_t) total * 12);
    int *expected = allocate((size_t) total * sizeof(int));
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 12, &t));
    CHECK_OK(MPI_Type_commit(&t));
    for (int root = 0; root < size; root++) {
        prepare(a, N, rank * 1000);
        CHECK_OK(MPI_Bcast(a, N, t, root, MPI_COMM_WORLD));
        for (int i = 0; i < N; i++)
            expected[i] = root * 1000 + i;
        check_triples("bcast", a, N, expected);
        prepare(a, N, rank * 1000);
        prepare(b, total, -1000000);
        CHECK_OK(MPI_Gather(a, N, t, b, N, t, root, MPI_COMM_WORLD));
        for (int i = 0; i < total; i++)
            expected[i] = rank == root ? i / N * 1000 + i % N : -1000000 + i;
        check_triples("gather", b, total, expected);
        prepare(a, N, -5);
        prepare(b, total, rank == root ? 40 : 0);
        CHECK_OK(MPI_Scatter(b, N, t, a, N, t, root, MPI_COMM_WORLD));
        for (int i = 0; i < N; i++)
            expected[i] = 40 + rank * N + i;
        check_triples("scatter", a, N, expected);
    }
    prepare(a, N, rank * 1000);
    prepare(b, total, 0);
    CHECK_OK(MPI_Allgather(a, N, t, b, N, t, MPI_COMM_WORLD));
    for (int i = 0; i < total; i++)
        expected[i] = i / N * 1000 + i % N;
    check_triples("allgather", b, total, expected);
    prepare(a, total, rank * 100000);
    prepare(b, total, 0);
    CHECK_OK(MPI_Alltoall(a, N, t, b, N, t, MPI_COMM_WORLD));
    for (int i = 0; i < total; i++)
        expected[i] = i / N * 100000 + rank * N + i % N;
    check_triples("alltoall", b, total, expected);
    /* Packed on one side. */
    int *flat = allocate((size_t) total * sizeof(int));
    CHECK_OK(MPI_Alltoall(a, N, t, flat, N, MPI_INT, MPI_COMM_WORLD));
    CHECK_BYTES(flat, expected, (size_t) total * sizeof(int));
    free(flat);
    free(a);
    free(b);
    free(expected);
    CHECK_OK(MPI_Type_free(&t));
    return end();
}
