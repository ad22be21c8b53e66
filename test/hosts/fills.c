/* SPDX-License-Identifier: BSD-3-Clause */
/* For files.sh: all ranks write a file together, strided. argv: the file, and "full": until the file
 * system is full, which all ranks must find out in the same call; or "forever": to be killed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INTS = 65536, BLOCK = 16 };

static int rank, size;

static void set_view(MPI_File file)
{
    MPI_Datatype blocks, mine;
    MPI_Type_contiguous(BLOCK, MPI_INT, &blocks);
    MPI_Type_create_resized(blocks, 0, (MPI_Aint)(BLOCK * sizeof(int)) * size, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, (MPI_Offset)(BLOCK * sizeof(int)) * rank, MPI_INT, mine, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&mine);
    MPI_Type_free(&blocks);
}

/* Returns the number of calls until the file system is full, or -1 if the error is another one. */
static int fill_it(MPI_File file, const int *data, int split)
{
    for (int i = 0;; i++) {
        int class, code;
        if (split) {
            code = MPI_File_write_all_begin(file, data, INTS, MPI_INT);
            if (!code)
                code = MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE);
        } else {
            code = MPI_File_write_all(file, data, INTS, MPI_INT, MPI_STATUS_IGNORE);
        }
        if (!code)
            continue;
        MPI_Error_class(code, &class);
        return class == MPI_ERR_NO_SPACE ? i : -1;
    }
}

int main(int argc, char **argv)
{
    MPI_File file;
    int *data = calloc(INTS, sizeof *data), first, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int split = 0; split < 2; split++) {
        if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                          &file))
            MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_File_set_size(file, 0);
        set_view(file);
        if (strcmp(argv[2], "forever") == 0)
            printf("ready\n");
        fflush(stdout);
        while (strcmp(argv[2], "forever") == 0)
            MPI_File_write_at_all(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE);
        int calls = fill_it(file, data, split);
        first = calls;
        MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
        wrong |= calls < 0 || calls != first;
        MPI_File_close(&file);
    }
    printf("rank %d: the same error after %d calls: %s\n", rank, first, wrong ? "no" : "yes");
    free(data);
    MPI_Finalize();
    return wrong;
}
