/* SPDX-License-Identifier: BSD-3-Clause */

/* The error handlers of files (MPI-4.1 sections 9.3.3 and 14.7). MPI_FILE_NULL carries the handler
 * that new files get: at first MPI_ERRORS_RETURN. */

#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/raise_next.h"

#include "lib/mpi/procedures.h"

static struct tern_file_head *head_of(struct tern_file *file)
{
    return file ? (struct tern_file_head *)file : &tern_file_null;
}

int tern_mpi_file_create_errhandler(MPI_File_errhandler_function *function,
                                    struct tern_errhandler **ret_errhandler)
{
    int error = tern_errhandler_new(TERN_ERRHANDLER_FILE, ret_errhandler);
    if (!error)
        (*ret_errhandler)->function.file = function;
    return error;
}

int tern_mpi_file_set_errhandler(struct tern_file *file, struct tern_errhandler *errhandler)
{
    return tern_errhandler_put(TERN_ERRHANDLER_FILE, &head_of(file)->errhandler, errhandler);
}

int tern_mpi_file_get_errhandler(struct tern_file *file, struct tern_errhandler **ret_errhandler)
{
    *ret_errhandler = tern_errhandler_retain(head_of(file)->errhandler);
    return 0;
}

int tern_mpi_file_call_errhandler(struct tern_file *fh, int errorcode)
{
    (void)fh;
    return tern_raise_as_asked(errorcode);
}
