/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The thread that makes progress while the program computes (parameter progress_thread). It is one
 * more user of the lanes in MPI_THREAD_MULTIPLE. It sleeps by the doorbell, so it costs nothing
 * until something arrives. While other threads poll, it does not arm the doorbell: a sender would
 * have to wake it for each packet, although the other threads see the packet anyway.
 */

#include "lib/node/doorbell.h"
#include "lib/pml/lock.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "lib/util/base/thread.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

static pthread_t thread;
static bool running;
static bool ending; /* atomic */
/* Users besides the parameter: windows and files that other ranks ask about. Guarded by the
 * library's lock. */
static int users;
static bool pausing; /* the last user has gone; tern_progress_thread_release is not done yet */

static bool is_ending(const void *unused)
{
    (void)unused;
    return __atomic_load_n(&ending, __ATOMIC_RELAXED);
}

static void *run(void *nothing)
{
    prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
    prctl(PR_SET_NAME, "tern-progress", 0, 0, 0);
    struct tern_waiter waiter = {.came = is_ending};
    while (!is_ending(NULL)) {
        tern_progress_await_silence();
        while (!is_ending(NULL) && tern_progress_or_sleep(&waiter))
            ;
    }
    return nothing;
}

static int start(const char *why)
{
    if (running)
        return 0;
    __atomic_store_n(&ending, false, __ATOMIC_RELAXED);
    int error = tern_thread_start(run, &thread);
    if (error)
        return tern_error(TERN_ERR_OTHER, "cannot start the progress thread, which %s needs: %s",
                          why, strerror(error));
    running = true;
    return 0;
}

int tern_progress_thread_start(void)
{
    return tern_param_bool("progress_thread") ? start("the parameter progress_thread") : 0;
}

void tern_progress_thread_stop(void)
{
    if (!running)
        return;
    __atomic_store_n(&ending, true, __ATOMIC_RELAXED);
    tern_doorbell_ring_self();
    pthread_join(thread, NULL);
    running = false;
}

/* Locks stay on when the last user has gone: this function cannot know who holds one. */
int tern_progress_thread_retain(void)
{
    if (!tern_threads)
        tern_threads = true;
    int rc = pausing ? 0 : start("a window or a file");
    users += !rc;
    return rc;
}

void tern_progress_thread_release(void)
{
    if (--users > 0 || pausing || tern_param_bool("progress_thread"))
        return;
    pausing = true;
    struct tern_held held = tern_locks_release(); /* the thread may wait for one of them */
    tern_progress_thread_stop();
    tern_locks_take_again(held);
    pausing = false;
    if (users > 0 && start("a window or a file")) /* another thread has made a window meanwhile */
        tern_log("%s", tern_error_text(TERN_ERR_OTHER));
}
