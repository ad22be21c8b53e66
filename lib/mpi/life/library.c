/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Starts and ends the library. Its users are counted: the World Model is one user, and each session
 * is another. They come and go in any order and from any thread. So the count has a lock of its
 * own, taken before all other locks.
 *
 * The first user starts the layers from the bottom up. Waiting comes first: it registers with
 * membarrier, which is quick only while the process has one thread, so it must precede libpmix,
 * which makes one. Then come the process's rank and job, the byte movers, and matching.
 *
 * When the last user leaves, the library hands over everything that this process sends, and tells
 * the launcher that the process may end (PMIx_Finalize). Connections and mapped memory stay.
 * Processes begin and end their sessions independently, so other processes may still be in theirs.
 * Starting again is quick: packets that others have sent meanwhile are there, and both ends
 * continue their counters.
 *
 * The library does nothing at exit, except that check_level full lists handles. So neither a child
 * made by fork nor a program that leaves without its last finalize runs code of the library then.
 * The launcher notices such a program.
 */

#include "lib/mpi/life/library.h"

#include "lib/accel/accel.h"
#include "lib/mpi/dynamic/connected.h"
#include "lib/btl/btl.h"
#include "lib/mpi/message/buffer.h"
#include "lib/mpi/check/check.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/request/request_object.h"
#include "lib/mpi/object/running.h"
#include "lib/mpi/tool/tool.h"
#include "lib/mpi/life/whereabouts.h"
#include "lib/node/doorbell.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/rte/crash.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/settings/figures.h"
#include "lib/util/base/log.h"
#include "lib/util/base/streams.h"
#include "lib/settings/param.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static bool sessions_used; /* true if there ever was a session */
static int highest_level;  /* the highest thread level of the present users */

static void say_refused(const char *text)
{
    tern_rte_remark(TERN_REMARK_PINNED, text);
}

/* Runs in a child made by fork. */
static void note_fork(void)
{
    tern_forked = tern_running();
    tern_gate_update();
}

static int start_rooms(void)
{
    pthread_atfork(NULL, NULL, note_fork); /* if it fails, a child is not noticed */
    tern_wait_init();
    int error = tern_rte_init();
    if (!error)
        tern_crash_watch();
    if (!error)
        /* if all ranks have the same fault, mpirun reports it once */
        error = tern_foreign_check();
    if (!error) {
        tern_accel_say_refused = say_refused;
        tern_accel_init();
        tern_crash_may_be_device = tern_accel_has_driver;
        error = tern_pml_init();
    }
    if (!error)
        tern_tool_begin();
    if (!error)
        tern_whereabouts_begin();
    return error;
}

static int return_to_rooms(void)
{
    int error = tern_rte_init();
    return error ? error : tern_pml_return();
}

/*
 * Decides whether locks are needed. A level below MPI_THREAD_MULTIPLE is a promise about the calls
 * of one user. Two users may call from two threads at the same time, unless the process has only
 * one thread. Once needed, locking stays on, because a thread may hold the lock.
 */
static void choose_locking(int level)
{
    bool first = tern_library_users == 0;
    highest_level = first || level > highest_level ? level : highest_level;
    bool needed = level == MPI_THREAD_MULTIPLE || (!first && highest_level > MPI_THREAD_SINGLE) ||
                  tern_param_bool("progress_thread");
    /* Objects keep their lanes, and only with locks do all lanes progress. */
    bool locks = needed || tern_lane_count > 1 || (!first && tern_threads);
    /* written only when it changes, because other threads read it */
    if (locks != (tern_threads != 0))
        tern_threads = locks;
}

int tern_library_retain(enum tern_library_user user, int thread_level)
{
    pthread_mutex_lock(&gate);
    int error = tern_library_known ? 0 : tern_param_check_all();
    if (!error && !tern_library_known)
        tern_param_say_useless();
    if (!error)
        error = tern_figures_read();
    if (error) {
        pthread_mutex_unlock(&gate);
        return error;
    }
    sessions_used = sessions_used || user == TERN_USER_SESSION;
    choose_locking(thread_level);
    if (tern_library_users == 0) {
        tern_streams_hold();
        tern_request_checks = &tern_check_of_requests;
        tern_check_init();
        error = tern_library_known ? return_to_rooms() : start_rooms();
        tern_library_known = tern_library_known || !error;
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

/* Hands over everything that this process has to send without the others' help. The receivers still
 * need this process for it. */
static void finish_messages(void)
{
    tern_buffer_finish();
    tern_request_finish_orphans();
    tern_pml_flush();
}

/* Ends the use of MPI_COMM_WORLD. Packets move during the barrier, which is made of messages. After
 * the barrier this process has taken in what others had to hand over on MPI_COMM_WORLD. */
static void leave_world(void)
{
    tern_wait_procedure = "MPI_Finalize";
    int error = tern_coll_barrier(&tern_comm_world.coll);
    tern_wait_procedure = NULL;
    if (error)
        tern_log("in MPI_Finalize: %s", tern_error_text(error));
    if (tern_library_users == 1)
        tern_pml_flush(); /* sends the packets of the barrier itself */
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
 * Waits until all processes have come to the end of the World Model. If all processes share memory,
 * the barrier of leave_world has done that. Otherwise no process may end before all others have
 * taken in what it sent. The launcher tells when that is so; packets move meanwhile.
 */
static int meet_all(void)
{
    if (tern_btl_outlives_sender())
        return 0;
    struct tern_waiter waiter = {.came = has_met, .procedure = "MPI_Finalize"};
    int error = tern_rte_meet(tern_doorbell_ring_self);
    while (!error && !tern_rte_has_met(&error))
        tern_wait(&waiter);
    return error;
}

/*
 * Removes a user. A message of a session may be received after the receiver's MPI_Finalize. So with
 * sessions, this process waits for its messages after all processes have met; packets move while
 * the launcher lets it wait. Without sessions it waits before they meet, because a process that has
 * met the others then ends. A message that no process ever receives, a fault of the program, does
 * no harm then.
 */
void tern_library_release(enum tern_library_user user)
{
    int error = 0;
    if (tern_forked) /* the parent's end of MPI is still to come */
        return;
    pthread_mutex_lock(&gate);
    bool last = tern_library_users == 1;
    if (last)
        tern_progress_thread_stop();
    tern_lock(); /* tern_wait releases it while it waits */
    if (last || user == TERN_USER_WORLD) {
        tern_wait_procedure = "MPI_Finalize, which waits for other jobs";
        tern_connected_part_all();
        tern_wait_procedure = NULL;
    }
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
        tern_accel_leave();
        int leave_error = tern_rte_finalize();
        error = error ? error : leave_error;
    }
    if (error) /* all messages have arrived, so this is no failure */
        tern_log("at the end of %s: %s",
                 user == TERN_USER_WORLD ? "MPI_Finalize" : "MPI_Session_finalize",
                 tern_error_text(error));
    tern_library_users--;
    tern_gate_update();
    pthread_mutex_unlock(&gate);
}
