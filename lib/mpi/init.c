/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Start and end of the library (MPI-4.1 chapter 11).
 *
 * Start goes from the bottom up: waiting (it registers with membarrier, which is quick only while
 * the process has one thread, so it comes before libpmix makes one), who am I, byte movers and
 * matching, communicators. The end is the reverse, and the meeting with the other ranks comes last.
 *
 * The library does nothing at exit: neither a child made by fork nor a program that leaves without
 * MPI_Finalize runs code of ours then. The launcher sees the latter.
 */

#include "lib/mpi/init.h"

#include "lib/mpi/buffered.h"
#include "lib/mpi/comm.h"
#include "lib/mpi/errhandler.h"
#include "lib/mpi/info.h"
#include "lib/mpi/request.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#include <pthread.h>
#include <unistd.h>

#include "lib/mpi/procedures.h"

volatile int tern_state = TERN_STATE_BEFORE;
static int thread_level = MPI_THREAD_SINGLE;
static pthread_t main_thread;

static int start_rooms(int argc, char **argv)
{
    int error = tern_foreign_check();
    if (error)
        return error;
    tern_wait_init();
    if ((error = tern_rte_init()) != 0 || (error = tern_pml_init()) != 0)
        return error;
    tern_lock(); /* tern_wait gives it up */
    error = tern_comm_init();
    tern_unlock();
    if (!error)
        tern_info_fill_env(argc, argv, thread_level);
    return error;
}

int tern_mpi_init_thread(int *argc, char ***argv, int required, int *provided)
{
    static const char *const levels[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                         "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};

    if (tern_state != TERN_STATE_BEFORE) {
        const char *again = tern_state == TERN_STATE_ENDED
                                ? "after MPI_Finalize; MPI cannot be started again"
                                : "twice; call it once in a process";
        return tern_error(TERN_ERR_OTHER, "MPI was started %s", again);
    }
    if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)
        required = required < MPI_THREAD_SINGLE ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    tern_state = TERN_STATE_STARTING;
    thread_level = required;
    tern_threads = required == MPI_THREAD_MULTIPLE;
    main_thread = pthread_self();
    int error = start_rooms(argc && argv ? *argc : 0, argc && argv ? *argv : NULL);
    if (error) {
        /* There is no communicator yet whose error handler could be called. */
        tern_log("MPI cannot be started (level %s): %s", levels[required], tern_error_text(error));
        if (tern_rte.managed)
            tern_rte_abort(1, NULL);
        _exit(1);
    }
    *provided = required;
    tern_state = TERN_STATE_RUNNING;
    return 0;
}

int tern_mpi_init(int *argc, char ***argv)
{
    int provided;
    return tern_mpi_init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

/*
 * Everything of ours is under way, and nobody needs us any more. The barrier is one of messages:
 * while PMIx lets a rank wait it moves no packets, and a rank whose last message nobody receives
 * could not hand it over. After the barrier, what others had to hand over is taken in; flushed
 * again are the packets of the barrier itself.
 */
static void finish_messages(void)
{
    tern_buffered_finish();
    tern_request_finish_orphans();
    tern_pml_flush();
    int error = tern_coll_barrier(&tern_comm_world.coll);
    if (error)
        tern_log("in MPI_Finalize: %s", tern_error_text(error));
    tern_pml_flush();
}

int tern_mpi_finalize(void)
{
    tern_lock(); /* tern_wait gives it up */
    int error = tern_comm_finalize_attributes(); /* MPI may be used in the callbacks */
    if (!error) {
        finish_messages();
        tern_state = TERN_STATE_ENDING;
        tern_comm_finalize();
    }
    tern_unlock();
    if (error)
        return error;
    tern_pml_finalize();
    error = tern_rte_finalize(true);
    if (error)
        tern_log("at the end of MPI_Finalize: %s",
                 tern_error_text(error)); /* all messages have arrived: no failure */
    tern_state = TERN_STATE_ENDED;
    return 0;
}

int tern_mpi_initialized(int *flag)
{
    *flag = tern_state >= TERN_STATE_RUNNING;
    return 0;
}

int tern_mpi_finalized(int *flag)
{
    *flag = tern_state == TERN_STATE_ENDED;
    return 0;
}

int tern_mpi_query_thread(int *provided)
{
    *provided = thread_level;
    return 0;
}

int tern_mpi_is_thread_main(int *flag)
{
    *flag = pthread_equal(main_thread, pthread_self()) != 0;
    return 0;
}
