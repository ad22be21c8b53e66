/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Heat in a square plate whose upper edge is hot: Jacobi's method on a grid of SIZE x SIZE points. The ranks form a
 * Cartesian grid; each owns a block with a border (halo) of one point, and exchanges the border with its four
 * neighbours before each step. Rows lie together in memory; a column is a vector type. In the end all ranks write one
 * picture together.
 *
 *     mpirun -n 4 ./heat [picture.pgm]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 240, STEPS = 400 };

static int rows, columns, width; /* of this rank's block; width: of a row with its borders */

/* The points that part `part` of `parts` owns: the first one, and behind the last one. */
static int begin_of(int part, int parts)
{
    return SIZE * part / parts;
}

static void exchange_borders(double *t, MPI_Datatype column, MPI_Comm grid)
{
    int up, down, left, right;
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    /* at the edge of the plate the neighbour is MPI_PROC_NULL, and nothing is sent */
    MPI_Sendrecv(t + width + 1, columns, MPI_DOUBLE, up, 0, t + (rows + 1) * width + 1, columns, MPI_DOUBLE, down, 0,
                 grid, MPI_STATUS_IGNORE);
    MPI_Sendrecv(t + rows * width + 1, columns, MPI_DOUBLE, down, 1, t + 1, columns, MPI_DOUBLE, up, 1, grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(t + width + 1, 1, column, left, 2, t + width + columns + 1, 1, column, right, 2, grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(t + width + columns, 1, column, right, 3, t + width, 1, column, left, 3, grid, MPI_STATUS_IGNORE);
}

static void step(const double *t, double *next)
{
    for (int i = 1; i <= rows; i++)
        for (int k = 1; k <= columns; k++) {
            const double *at = t + i * width + k;
            next[i * width + k] = (at[-width] + at[width] + at[-1] + at[1]) / 4;
        }
}

/* Draws the plate: all ranks write their blocks into one file, a picture of one byte a point. Returns 0, or 1 if it
 * cannot be written. */
static int draw(const double *t, int row0, int column0, MPI_Comm grid, const char *path)
{
    int rank, whole[2] = {SIZE, SIZE}, own[2] = {rows, columns}, at[2] = {row0, column0};
    char header[32];
    int length = snprintf(header, sizeof header, "P5 %d %d 255\n", SIZE, SIZE);
    unsigned char *grey = malloc((size_t)rows * columns + 1);
    MPI_File file;
    MPI_Datatype block;
    MPI_Comm_rank(grid, &rank);
    if (!grey)
        MPI_Abort(grid, 1);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++)
            grey[i * columns + k] = (unsigned char)(t[(i + 1) * width + k + 1] * 2.55);

    /* errors of files return, unlike others */
    int error = MPI_File_open(grid, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    if (!error) {
        MPI_Type_create_subarray(2, whole, own, at, MPI_ORDER_C, MPI_BYTE, &block);
        MPI_Type_commit(&block);
        MPI_File_set_size(file, 0);
        if (rank == 0)
            error = MPI_File_write_at(file, 0, header, length, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_set_view(file, length, MPI_BYTE, block, "native", MPI_INFO_NULL);
        int written = MPI_File_write_all(file, grey, rows * columns, MPI_BYTE, MPI_STATUS_IGNORE);
        int closed = MPI_File_close(&file);
        error = error ? error : written ? written : closed;
        MPI_Type_free(&block);
    }
    if (error) {
        char text[MPI_MAX_ERROR_STRING];
        MPI_Error_string(error, text, &length);
        fprintf(stderr, "%s: %s\n", path, text);
    }
    free(grey);
    return error != MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int size, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2], wrong = 0;
    MPI_Comm grid;
    MPI_Datatype column;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);

    int row0 = begin_of(coords[0], dims[0]), column0 = begin_of(coords[1], dims[1]);
    rows = begin_of(coords[0] + 1, dims[0]) - row0;
    columns = begin_of(coords[1] + 1, dims[1]) - column0;
    width = columns + 2;
    MPI_Type_vector(rows, 1, width, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);

    double *t = calloc((size_t)(rows + 2) * width, sizeof *t);
    double *next = calloc((size_t)(rows + 2) * width, sizeof *next);
    if (!t || !next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (coords[0] == 0)
        for (int k = 0; k < width; k++)
            t[k] = next[k] = 100;

    double begin = MPI_Wtime(), change = 0;
    for (int i = 0; i < STEPS; i++) {
        exchange_borders(t, column, grid);
        step(t, next);
        double *old = t;
        t = next;
        next = old;
    }
    for (int i = 1; i <= rows; i++)
        for (int k = 1; k <= columns; k++)
            change = fmax(change, fabs(t[i * width + k] - next[i * width + k]));
    double sum = 0, heat, largest;
    for (int i = 1; i <= rows; i++)
        for (int k = 1; k <= columns; k++)
            sum += t[i * width + k];
    MPI_Reduce(&sum, &heat, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
    MPI_Reduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, grid);
    if (rank == 0) {
        printf("After %d steps the mean is %.6f degrees, and the last step changed %.6f at most\n", STEPS,
               heat / SIZE / SIZE, largest);
        fprintf(stderr, "%d x %d ranks, %.3f ms a step\n", dims[0], dims[1], (MPI_Wtime() - begin) * 1e3 / STEPS);
    }
    if (argc > 1)
        wrong = draw(t, row0, column0, grid, argv[1]);

    free(t);
    free(next);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return wrong;
}
