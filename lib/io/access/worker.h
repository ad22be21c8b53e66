/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_WORKER_H
#define TERN_WORKER_H

/*
 * The thread that reads and writes while the program computes. There is one per process. It is made
 * when a job is first given to it, sleeps when it has none, and ends with tern_worker_stop.
 */

#include <stdbool.h>

/* A job: something that blocks. The caller owns it, and keeps it until `done`. */
struct tern_worker_job {
    void (*run)(struct tern_worker_job *job); /* runs in the worker; takes no lock of the library */
    struct tern_worker_job *next;             /* the worker's */
    bool done;                         /* atomic: `run` has returned */
};

/* Hands a job to the worker. When it is done, rings the doorbell of this process, so that a thread
 * that waits in MPI looks. If there can be no thread, runs the job before it returns. Does not
 * block otherwise. */
void tern_worker_give(struct tern_worker_job *job);
/* Returns true if the job is done; then all that it wrote can be read. */
static inline bool tern_worker_done(const struct tern_worker_job *job)
{
    return __atomic_load_n(&job->done, __ATOMIC_ACQUIRE);
}
/* Ends the worker after the jobs that it has. Does nothing if there is none. Blocks. */
void tern_worker_stop(void);

#endif
