/* SPDX-License-Identifier: BSD-3-Clause */
/* For absent_procedures.sh: a program that mentions procedures which this version does not have, as
 * the inline functions of C++ bindings do. argv[1] says which it calls: "none", "early" (before
 * MPI_Init), "fatal", "returned", "file". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

extern int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                          MPI_Win *win);
extern int PMPI_Win_free(MPI_Win *win);
extern int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info,
                         MPI_File *fh);
extern int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                          MPI_Comm comm, MPI_Comm *intercomm, int errcodes[]);

static int word, failures;

static void expect(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "wrong: %s\n", what);
        failures++;
    }
}

static int create(MPI_Comm comm)
{
    MPI_Win win = (MPI_Win)&word;
    int code = MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, comm, &win), class = -1;
    expect(win == MPI_WIN_NULL, "the window is not null");
    expect(MPI_Error_class(code, &class) == MPI_SUCCESS && class == MPI_ERR_UNSUPPORTED_OPERATION,
           "the class of a window");
    return code;
}

static void open_file(void)
{
    MPI_File file = (MPI_File)&word;
    expect(MPI_File_open(MPI_COMM_WORLD, "x", 0, MPI_INFO_NULL, &file) ==
               MPI_ERR_UNSUPPORTED_OPERATION,
           "the class of a file");
    expect(file == MPI_FILE_NULL, "the file is not null");
    expect(MPI_File_c2f(file) == 0 && MPI_File_f2c(0) == MPI_FILE_NULL, "the null file in Fortran");
}

static void spawn(MPI_Comm comm)
{
    MPI_Comm children = MPI_COMM_WORLD;
    MPI_Win win = MPI_WIN_NULL;
    char text[MPI_MAX_ERROR_STRING];
    int length, code = MPI_Comm_spawn("x", NULL, 1, MPI_INFO_NULL, 0, comm, &children, NULL);
    expect(children == MPI_COMM_NULL, "the children are not null");
    expect(MPI_Error_string(code, text, &length) == MPI_SUCCESS, "no text");
    expect(PMPI_Win_free(&win) == MPI_ERR_UNSUPPORTED_OPERATION, "the class of PMPI_Win_free");
    expect(MPI_Win_c2f(MPI_WIN_NULL) == 0 && MPI_Win_f2c(0) == MPI_WIN_NULL,
           "the null window in Fortran");
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "none";
    int rank;
    if (strcmp(which, "early") == 0)
        create(MPI_COMM_WORLD);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(which, "fatal") == 0)
        create(MPI_COMM_WORLD);
    if (strcmp(which, "file") == 0)
        for (int i = 0; i < 3; i++)
            open_file();
    if (strcmp(which, "returned") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        create(MPI_COMM_WORLD);
        create(MPI_COMM_NULL); /* which has no handler */
        spawn(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    printf("rank %d: %d failures\n", rank, failures);
    return failures != 0;
}
