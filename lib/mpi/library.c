/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The library's life. Who uses it is counted: the World Model is one user, each session another;
 * they come and go in any order and from any thread, so the count has a lock of its own, taken
 * before all others.
 *
 * The first user starts the rooms from the bottom up: waiting (it registers with membarrier, which
 * is quick only while the process has one thread, so it comes before libpmix makes one), who am I,
 * byte movers and matching. When the last one goes, everything of ours is handed over and the
 * launcher hears that this process may end (PMIx_Finalize). What has been learnt and mapped stays:
 * processes begin and end their sessions on their own, so others may still be in theirs, and the
 * way back is short: what others have sent meanwhile is there, and both ends go on counting where
 * they were.
 *
 * The library does nothing at exit: neither a child made by fork nor a program that leaves without
 * its last finalize runs code of ours then. The launcher sees the latter.
 */

#include "lib/mpi/library.h"

#include "lib/btl/btl.h"
#include "lib/mpi/buffer.h"
#include "lib/mpi/check/check.h"
#include "lib/mpi/check/gate.h"
#include "lib/mpi/comm.h"
#include "lib/mpi/request_object.h"
#include "lib/mpi/running.h"
#include "lib/mpi/tool/tool.h"
#include "lib/node/doorbell.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/param.h"

#include <pthread.h>
#include <string.h>

_Atomic int tern_library_users;

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static bool known;         /* has been started before */
static bool sessions_used; /* ever */
static int highest_level;  /* of the users there are */

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

bool tern_library_known(void)
{
    return known;
}

static int start_rooms(void)
{
    tern_wait_init();
    int error = tern_rte_init();
    if (!error)
        /* all ranks may have the same to say, and mpirun says it once */
        error = tern_foreign_check();
    if (!error)
        error = tern_pml_init();
    if (!error)
        tern_tool_begin();
    return error;
}

static int return_to_rooms(void)
{
    int error = tern_rte_init();
    return error ? error : tern_pml_return();
}

/*
 * Is a lock needed? A level below MPI_THREAD_MULTIPLE is a promise about one user's calls; two
 * users may be two threads at the same time, unless there is but one thread in all. Once needed the
 * lock stays: some thread may hold it.
 */
static void choose_locking(int level)
{
    bool first = tern_library_users == 0;
    highest_level = first || level > highest_level ? level : highest_level;
    bool needed = level == MPI_THREAD_MULTIPLE || (!first && highest_level > MPI_THREAD_SINGLE) ||
                  tern_param_bool("progress_thread");
    /* What has lanes keeps them, and only with locks all of them make progress. */
    bool locks = needed || tern_lane_count > 1 || (!first && tern_threads);
    if (locks != (tern_threads != 0)) /* not written in vain: others read it */
        tern_threads = locks;
}

int tern_library_retain(enum tern_library_user user, int thread_level)
{
    int error = 0;
    pthread_mutex_lock(&gate);
    sessions_used = sessions_used || user == TERN_USER_SESSION;
    choose_locking(thread_level);
    if (tern_library_users == 0) {
        tern_check_init();
        error = known ? return_to_rooms() : start_rooms();
        known = known || !error;
        tern_lock();
        if (!error)
            error = tern_check_open();
        tern_unlock();
        if (!error)
            error = tern_progress_thread_start();
    }
    if (!error)
        tern_library_users++;
    tern_gate_update();
    pthread_mutex_unlock(&gate);
    return error;
}

/* What this process has to hand over on its own: whoever is to receive it still needs us. */
static void finish_messages(void)
{
    tern_buffer_finish();
    tern_request_finish_orphans();
    tern_pml_flush();
}

/* Nobody needs MPI_COMM_WORLD any more. In a barrier of messages packets move; what others had to
 * hand over on it is taken in by then. */
static void leave_world(void)
{
    int error = tern_coll_barrier(&tern_comm_world.coll);
    if (error)
        tern_log("in MPI_Finalize: %s", tern_error_text(error));
    if (tern_library_users == 1)
        tern_pml_flush(); /* the packets of the barrier itself */
    tern_check_flush();
    tern_check_say_unreceived(&tern_comm_world);
    tern_check_say_unreceived(&tern_comm_self);
    tern_world = TERN_WORLD_ENDING;
    tern_comm_finalize();
}

static bool has_met(const void *unused)
{
    (void)unused;
    int error;
    return tern_rte_has_met(&error);
}

/*
 * All have come to the end of the World Model: where they share memory, the barrier of leave_world
 * has shown it. Elsewhere nobody may end before all have taken in what it sent, of which the
 * launcher tells; packets move meanwhile.
 */
static int meet_all(void)
{
    if (tern_btl_outlives_sender())
        return 0;
    struct tern_waiter waiter = {.came = has_met};
    int error = tern_rte_meet(tern_doorbell_ring_self);
    while (!error && !tern_rte_has_met(&error))
        tern_wait(&waiter);
    return error;
}

/*
 * Messages of sessions may be received after the receiver's MPI_Finalize: so they are waited for
 * after all have met, and packets move while the launcher lets us wait for that. Without sessions
 * it is the other way round, for who has met the others then is gone; a message that nobody ever
 * receives, the program's fault, does no harm.
 */
void tern_library_release(enum tern_library_user user)
{
    int error = 0;
    pthread_mutex_lock(&gate);
    bool last = tern_library_users == 1;
    if (last)
        tern_progress_thread_stop();
    tern_lock(); /* tern_wait gives it up */
    if (last && !sessions_used)
        finish_messages();
    if (user == TERN_USER_WORLD) {
        leave_world();
        error = meet_all();
    }
    if (last && sessions_used) {
        finish_messages();
        tern_check_flush();
        tern_pml_finish_copies();
    }
    tern_unlock();
    if (last) {
        tern_check_finalize();
        tern_pml_leave();
        int leave_error = tern_rte_finalize();
        error = error ? error : leave_error;
    }
    if (error) /* all messages have arrived: no failure */
        tern_log("at the end of %s: %s",
                 user == TERN_USER_WORLD ? "MPI_Finalize" : "MPI_Session_finalize",
                 tern_error_text(error));
    tern_library_users--;
    tern_gate_update();
    pthread_mutex_unlock(&gate);
}
