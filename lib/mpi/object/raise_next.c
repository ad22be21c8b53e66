/* SPDX-License-Identifier: BSD-3-Clause */

#include "lib/mpi/object/raise_next.h"

#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/procedures.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

static __thread struct tern_raise_next next;

void tern_raise_next_on(struct tern_comm *comm)
{
    next.comm = comm;
    next.held = false;
}

void tern_raise_next_on_held(struct tern_comm *comm)
{
    next.comm = comm;
    next.held = comm;
}

void tern_raise_next_on_file(struct tern_file_head *file)
{
    tern_lock();
    tern_errhandler_retain(file->errhandler);
    next.of_file = file->errhandler;
    tern_unlock();
    next.file = file->obj.handle;
}

int tern_raise_as_asked(int errorcode)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    int error = tern_mpi_error_string(errorcode, text, &length);
    if (error)
        return error;
    next.succeed = true;
    tern_error_clear(); /* the code that is reported is the program's */
    return errorcode;
}

struct tern_raise_next tern_raise_next_take(void)
{
    struct tern_raise_next taken = next;
    next = (struct tern_raise_next){0};
    return taken;
}
