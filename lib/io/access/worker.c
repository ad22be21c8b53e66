/* SPDX-License-Identifier: BSD-3-Clause */

/* The thread that reads and writes while the program computes. */

#include "lib/io/access/worker.h"

#include "lib/node/doorbell.h"
#include "lib/util/base/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct tern_worker_job *first, **last = &first;
static bool running, ending;
static pthread_t thread;

/* Returns the next job. Waits for one. Returns NULL when the worker shall end. */
static struct tern_worker_job *take(void)
{
    pthread_mutex_lock(&mutex);
    while (!first && !ending)
        pthread_cond_wait(&filled, &mutex);
    struct tern_worker_job *job = first;
    if (job) {
        first = job->next;
        if (!first)
            last = &first;
    }
    pthread_mutex_unlock(&mutex);
    return job;
}

static void *work(void *nothing)
{
    prctl(PR_SET_NAME, "tern-files", 0, 0, 0);
    for (struct tern_worker_job *job; (job = take());) {
        job->run(job);
        /* release: who sees `done` sees what the job wrote */
        __atomic_store_n(&job->done, true, __ATOMIC_RELEASE);
        tern_doorbell_ring_self();
    }
    return nothing;
}

/* Makes the thread, with the mutex held. Returns false if there can be none. */
static bool start(void)
{
    if (running)
        return true;
    ending = false;
    running = tern_thread_start(work, &thread) == 0;
    return running;
}

void tern_worker_give(struct tern_worker_job *job)
{
    job->next = NULL;
    __atomic_store_n(&job->done, false, __ATOMIC_RELAXED);
    pthread_mutex_lock(&mutex);
    bool there = start();
    if (there) {
        *last = job;
        last = &job->next;
        pthread_cond_signal(&filled);
    }
    pthread_mutex_unlock(&mutex);
    if (there)
        return;
    job->run(job);
    __atomic_store_n(&job->done, true, __ATOMIC_RELEASE);
}

void tern_worker_stop(void)
{
    pthread_mutex_lock(&mutex);
    bool was = running;
    ending = true;
    running = false;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
    if (was)
        pthread_join(thread, NULL);
}
