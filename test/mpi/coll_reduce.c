/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 7 16 */
/* MPI_Reduce and MPI_Allreduce for every root, size class, in place or not, several operations. */
#include "check.h"

static int value_of(int r, int i)
{
    return (r * 37 + i * 11) % 101 - 50;
}

static int expected_of(MPI_Op op, int i)
{
    int a = value_of(0, i);
    for (int r = 1; r < size; r++) {
        int b = value_of(r, i);
        a = op == MPI_SUM ? a + b : op == MPI_MAX ? (a > b ? a : b) : a ^ b;
    }
    return a;
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 2, 17, 500, 2049, 30000, 400000 };
    start(&argc, &argv);
    MPI_Op ops[] = { MPI_SUM, MPI_MAX, MPI_BXOR };
    for (int c = 0; c < 8; c++) {
        int n = counts[c];
        int *in = allocate((size_t) n * sizeof(int)), *out = allocate((size_t) n * sizeof(int));
        int *expected = allocate((size_t) n * sizeof(int));
        for (int o = 0; o < 3; o++) {
            for (int i = 0; i < n; i++) {
                in[i] = value_of(rank, i);
                expected[i] = expected_of(ops[o], i);
            }
            for (int root = 0; root < size; root += n > 10000 ? 3 : 1) {
                memset(out, 0x77, (size_t) n * sizeof(int));
                CHECK_OK(MPI_Reduce(in, out, n, MPI_INT, ops[o], root, MPI_COMM_WORLD));
                for (int i = 0; i < n; i++)
                    CHECK_INT(out[i], rank == root ? expected[i] : 0x77777777);
                memcpy(out, in, (size_t) n * sizeof(int));
                CHECK_OK(MPI_Reduce(rank == root ? MPI_IN_PLACE : out, rank == root ? out : NULL, n,
                                    MPI_INT, ops[o], root, MPI_COMM_WORLD));
                for (int i = 0; i < n; i++)
                    CHECK_INT(out[i], rank == root ? expected[i] : in[i]);
            }
            memset(out, 0, (size_t) n * sizeof(int));
            CHECK_OK(MPI_Allreduce(in, out, n, MPI_INT, ops[o], MPI_COMM_WORLD));
            for (int i = 0; i < n; i++)
                CHECK_INT(out[i], expected[i]);
            memcpy(out, in, (size_t) n * sizeof(int));
            CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_INT, ops[o], MPI_COMM_WORLD));
            for (int i = 0; i < n; i++)
                CHECK_INT(out[i], expected[i]);
        }
        free(in);
        free(out);
        free(expected);
    }
    return end();
}
