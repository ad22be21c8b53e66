/* SPDX-License-Identifier: BSD-3-Clause */

/* The World Model: MPI_Init to MPI_Finalize (MPI-4.1 section 11.2). */

#include "lib/mpi/check/check.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/dynamic/comm_spawn.h"
#include "lib/mpi/object/info.h"
#include "lib/mpi/life/library.h"
#include "lib/mpi/life/paths.h"
#include "lib/mpi/object/running.h"
#include "lib/node/programs.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/mpi/procedures.h"

static pthread_t main_thread;

static int start_world(int argc, char **argv)
{
    int error = tern_library_retain(TERN_USER_WORLD, tern_world_thread_level);
    if (error)
        return error;
    error = tern_program_enter_world();
    if (error)
        return error;
    tern_rte_tell_world();
    tern_lock();
    error = tern_comm_init();
    tern_unlock();
    if (!error)
        tern_info_fill_env(argc, argv, tern_world_thread_level);
    tern_lock();
    if (!error)
        error = tern_spawn_meet_parent();
    tern_unlock();
    return error;
}

int tern_mpi_init_thread(int *argc, char ***argv, int required, int *provided)
{
    int before = TERN_WORLD_BEFORE;
    if (!__atomic_compare_exchange_n(&tern_world, &before, TERN_WORLD_STARTING, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        const char *again = before == TERN_WORLD_ENDED
                                ? "after MPI_Finalize; call it only once, or use sessions"
                                : "twice; call it only once in a process";
        return tern_error(TERN_ERR_OTHER, "MPI was started %s", again);
    }
    if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)
        required = required < MPI_THREAD_SINGLE ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    tern_world_thread_level = required;
    main_thread = pthread_self();
    int error = start_world(argc && argv ? *argc : 0, argc && argv ? *argv : NULL);
    if (error) {
        /* No communicator exists yet whose error handler could be called. */
        char text[1200];
        snprintf(text, sizeof text, "MPI cannot be started: %s", tern_error_text(error));
        tern_rte_remark(TERN_REMARK_NO_START, text);
        if (tern_rte.managed)
            tern_rte_abort(1, NULL);
        _exit(1);
    }
    *provided = required;
    tern_world = TERN_WORLD_RUNNING;
    return 0;
}

int tern_mpi_init(int *argc, char ***argv)
{
    int provided;
    return tern_mpi_init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

/* Checks that the World Model runs. If a program uses sessions, MPI runs without MPI_Init, or goes
 * on after MPI_Finalize. */
static int check_world(const char *procedure)
{
    if (tern_world == TERN_WORLD_RUNNING)
        return 0;
    return tern_error(TERN_ERR_OTHER,
                      "%s belongs to the World Model, and MPI_Init was not called%s", procedure,
                      tern_world == TERN_WORLD_ENDED ? " since MPI_Finalize" : "");
}

int tern_mpi_finalize(void)
{
    int error = check_world("MPI_Finalize");
    if (error)
        return error;
    if (tern_forked) { /* as at a child's exit; the parent's MPI goes on */
        tern_world = TERN_WORLD_ENDED;
        return 0;
    }
    error = tern_check_collective(&tern_comm_world, &(struct tern_check_call){0});
    if (error)
        return error;
    tern_lock();
    error = tern_comm_finalize_attributes(); /* the callbacks may use MPI */
    tern_unlock();
    if (error)
        return error;
    tern_paths_show();
    tern_library_release(TERN_USER_WORLD);
    tern_world = TERN_WORLD_ENDED;
    return 0;
}

int tern_mpi_initialized(int *flag)
{
    *flag = tern_world >= TERN_WORLD_RUNNING;
    return 0;
}

int tern_mpi_finalized(int *flag)
{
    *flag = tern_world == TERN_WORLD_ENDED;
    return 0;
}

int tern_mpi_query_thread(int *provided)
{
    int error = check_world("MPI_Query_thread");
    if (error)
        return error;
    *provided = tern_world_thread_level;
    return 0;
}

int tern_mpi_is_thread_main(int *flag)
{
    int error = check_world("MPI_Is_thread_main");
    if (error)
        return error;
    *flag = pthread_equal(main_thread, pthread_self()) != 0;
    return 0;
}
