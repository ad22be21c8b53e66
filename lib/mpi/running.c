/* SPDX-License-Identifier: BSD-3-Clause */

/* Keeps whether MPI runs, for all files of lib/mpi. library.c and init.c change it. */

#include "lib/mpi/running.h"

#include <mpi.h>
#include <string.h>

_Atomic int tern_library_users;
_Atomic int tern_world = TERN_WORLD_BEFORE;
_Atomic int tern_world_thread_level = MPI_THREAD_SINGLE;
bool tern_library_known, tern_forked;

static const char *const level_names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                          "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
enum { LEVELS = sizeof level_names / sizeof *level_names };

const char *tern_thread_level_name(int level)
{
    return level_names[level];
}

int tern_thread_level_of(const char *name)
{
    for (int level = 0; level < LEVELS; level++)
        if (strcmp(name, level_names[level]) == 0)
            return level;
    return -1;
}
