/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * C = A B by SUMMA (R. van de Geijn and J. Watts, 1997): the ranks form a square, each owns a block of each matrix. In
 * step k, the ranks of column k send their block of A along their row, and those of row k their block of B along their
 * column; then everybody multiplies the two blocks that came and adds the product to its block of C.
 *
 *     mpirun -n 4 ./matmul            # 1, 4, 9, 16 ... ranks
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 120 };

/* The element (i, j) of the two matrices; what the product must be is known in closed form. */
static double element_a(int i, int j)
{
    return i + 2.0 * j;
}

static double element_b(int i, int j)
{
    return i - 1.0 * j;
}

static void multiply(const double *a, const double *b, double *c)
{
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < BLOCK; k++)
            for (int j = 0; j < BLOCK; j++)
                c[i * BLOCK + j] += a[i * BLOCK + k] * b[k * BLOCK + j];
}

/* The sum over k of (i + 2 k) (k - j), for k from 0 to n - 1. */
static double expected(int i, int j, int n)
{
    double first = n * (n - 1.0) / 2, second = (n - 1.0) * n * (2.0 * n - 1) / 6;
    return 2 * second + (i - 2.0 * j) * first - (double)i * j * n;
}

int main(int argc, char **argv)
{
    int size, rank, coords[2], wrong = 0, any;
    MPI_Comm grid, row, column;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int side = (int)lround(sqrt(size));
    if (side * side != size) {
        fprintf(stderr, "matmul: %d ranks do not form a square; start it with 1, 4, 9, 16 ...\n", size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){side, side}, (int[]){0, 0}, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    MPI_Cart_sub(grid, (int[]){0, 1}, &row);    /* ranks of my row: their number is their column */
    MPI_Cart_sub(grid, (int[]){1, 0}, &column); /* ranks of my column: their number is their row */

    size_t bytes = BLOCK * BLOCK * sizeof(double);
    double *a = malloc(bytes), *b = malloc(bytes), *c = calloc(1, bytes), *from_row = malloc(bytes),
           *from_column = malloc(bytes);
    if (!a || !b || !c || !from_row || !from_column)
        MPI_Abort(MPI_COMM_WORLD, 1);
    int row0 = coords[0] * BLOCK, column0 = coords[1] * BLOCK;
    for (int i = 0; i < BLOCK; i++)
        for (int j = 0; j < BLOCK; j++) {
            a[i * BLOCK + j] = element_a(row0 + i, column0 + j);
            b[i * BLOCK + j] = element_b(row0 + i, column0 + j);
        }

    double begin = MPI_Wtime();
    for (int k = 0; k < side; k++) {
        if (coords[1] == k)
            memcpy(from_row, a, bytes);
        if (coords[0] == k)
            memcpy(from_column, b, bytes);
        MPI_Bcast(from_row, BLOCK * BLOCK, MPI_DOUBLE, k, row);
        MPI_Bcast(from_column, BLOCK * BLOCK, MPI_DOUBLE, k, column);
        multiply(from_row, from_column, c);
    }
    double took = MPI_Wtime() - begin, n = (double)side * BLOCK;
    for (int i = 0; i < BLOCK; i++)
        for (int j = 0; j < BLOCK; j++) {
            double want = expected(row0 + i, column0 + j, (int)n);
            wrong |= fabs(c[i * BLOCK + j] - want) > 1e-9 * fabs(want) + 1e-6;
        }
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_LOR, grid);
    if (rank == 0) {
        printf("The product of two matrices of %.0f x %.0f on %d x %d ranks is %s\n", n, n, side, side,
               any ? "WRONG" : "right");
        fprintf(stderr, "%.2f GFlop/s\n", 2e-9 * n * n * n / took);
    }
    free(a);
    free(b);
    free(c);
    free(from_row);
    free(from_column);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return any;
}
