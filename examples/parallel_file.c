/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One file, written by all ranks at once and read by all ranks at once. The file is a table whose rows go round the
 * ranks like cards that are dealt: rank 0 has rows 0, size, 2 size ...; a file view says so, and each rank writes all
 * its rows by one call. Then each rank reads the rows of its neighbour and compares them.
 *
 *     mpirun -n 4 ./parallel_file [file]
 *
 * The file is removed. It must lie where all hosts see it. Without an argument it lies in the
 * working directory.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 960, COLUMNS = 1024 };

static int value_of(int row, int column)
{
    return row * COLUMNS + column;
}

/* Ends the job with the text of an error: only errors of files return. */
static void check(int error, const char *path)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (error == MPI_SUCCESS)
        return;
    MPI_Error_string(error, text, &length);
    fprintf(stderr, "%s: %s\n", path, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Makes the rows of a rank visible, as if nothing else were in the file. */
static void view_rows_of(MPI_File file, int rank, int size, const char *path)
{
    MPI_Datatype row, dealt;
    MPI_Type_contiguous(COLUMNS, MPI_INT, &row);
    MPI_Type_create_resized(row, 0, (MPI_Aint)size * COLUMNS * sizeof(int), &dealt); /* the next row is `size` further */
    MPI_Type_commit(&dealt);
    check(MPI_File_set_view(file, (MPI_Offset)rank * COLUMNS * sizeof(int), MPI_INT, dealt, "native", MPI_INFO_NULL),
          path);
    MPI_Type_free(&row);
    MPI_Type_free(&dealt);
}

static int rows_of(int rank, int size)
{
    return ROWS / size + (rank < ROWS % size);
}

int main(int argc, char **argv)
{
    int rank, size;
    long wrong = 0, all_wrong;
    MPI_File file;
    MPI_Offset bytes;
    const char *path = argc > 1 ? argv[1] : "parallel_file.data";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int neighbour = (rank + 1) % size, own = rows_of(rank, size), theirs = rows_of(neighbour, size);
    int *table = malloc((size_t)(ROWS / size + 1) * COLUMNS * sizeof *table);
    if (!table)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < own; i++)
        for (int k = 0; k < COLUMNS; k++)
            table[i * COLUMNS + k] = value_of(rank + i * size, k);

    check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &file), path);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    view_rows_of(file, rank, size, path);
    check(MPI_File_write_all(file, table, own * COLUMNS, MPI_INT, MPI_STATUS_IGNORE), path);
    /* what others have written may be read after: sync, barrier, sync */
    check(MPI_File_sync(file), path);
    MPI_Barrier(MPI_COMM_WORLD);
    check(MPI_File_sync(file), path);
    double middle = MPI_Wtime();
    check(MPI_File_get_size(file, &bytes), path);
    view_rows_of(file, neighbour, size, path);
    check(MPI_File_read_all(file, table, theirs * COLUMNS, MPI_INT, MPI_STATUS_IGNORE), path);
    double end = MPI_Wtime();

    for (int i = 0; i < theirs; i++)
        for (int k = 0; k < COLUMNS; k++)
            wrong += table[i * COLUMNS + k] != value_of(neighbour + i * size, k);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d rows, %lld bytes in one file, %ld wrong numbers\n", ROWS, (long long)bytes, all_wrong);
        fprintf(stderr, "written with %.0f MB/s, read with %.0f MB/s\n", bytes / (middle - begin) * 1e-6,
                bytes / (end - middle) * 1e-6);
    }
    check(MPI_File_close(&file), path);
    free(table);
    MPI_Finalize();
    return all_wrong != 0;
}
