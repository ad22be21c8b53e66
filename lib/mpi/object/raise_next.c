/* SPDX-License-Identifier: BSD-3-Clause */

#include "lib/mpi/object/raise_next.h"

#include "lib/mpi/object/errhandler.h"
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

void tern_raise_next_succeeds(void)
{
    next.succeed = true;
    tern_error_clear(); /* the code that is reported is the program's */
}

struct tern_raise_next tern_raise_next_take(void)
{
    struct tern_raise_next taken = next;
    next = (struct tern_raise_next){0};
    return taken;
}
