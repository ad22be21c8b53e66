/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The thread that makes progress while the program computes (parameter progress_thread). It is one
 * more user of the lanes in MPI_THREAD_MULTIPLE. It sleeps by the doorbell, so it costs nothing
 * until something arrives. While other threads poll, it does not arm the doorbell: a sender would
 * have to wake it for each packet, although the other threads see the packet anyway.
 */

#include "lib/node/doorbell.h"
#include "lib/pml/pml.h"
#include "lib/util/error.h"
#include "lib/util/param.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

static pthread_t thread;
static bool running;
static bool ending; /* atomic */

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

int tern_progress_thread_start(void)
{
    if (running || !tern_param_bool("progress_thread"))
        return 0;
    /* the program's signals must not be handled by this thread */
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &mask);
    __atomic_store_n(&ending, false, __ATOMIC_RELAXED);
    int error = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (error)
        return tern_error(TERN_ERR_OTHER, "cannot start the thread of progress_thread: "
                                          "%s", strerror(error));
    running = true;
    return 0;
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
