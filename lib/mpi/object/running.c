/* SPDX-License-Identifier: BSD-3-Clause */

/* Keeps whether MPI runs, for all files of lib/mpi. library.c and init.c change it. */

#include "lib/mpi/object/running.h"

#include "lib/rte/rte.h"
#include "lib/util/base/log.h"

#include <mpi.h>
#include <string.h>
#include <unistd.h>

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

void tern_running_refuse(const char *procedure)
{
    if (!tern_library_known)
        tern_log(
            "%s was called before MPI_Init; call MPI_Init or MPI_Init_thread first, or start a "
            "session with MPI_Session_init",
            procedure);
    else
        tern_log("%s was called after %s; call it before", procedure,
                 tern_world == TERN_WORLD_BEFORE ? "the last MPI_Session_finalize"
                                                 : "MPI_Finalize");
    tern_rte_abort(1, NULL);
}

void tern_running_refuse_forked(const char *procedure)
{
    tern_log("%s was called in process %d, a child that process %d made by fork; only the process "
             "that started MPI may call it. Let that process call it, or start processes by "
             "MPI_Comm_spawn",
             procedure, (int)getpid(), (int)getppid());
    tern_rte_abort(1, NULL);
}
