/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_JOBS_CHILDREN_H
#define TERN_MPIRUN_JOBS_CHILDREN_H

/*
 * The jobs that ranks have started by MPI_Comm_spawn. Each has an mpirun of its own, a child of the
 * first mpirun, whether a rank of the first job or of a later one has asked for it. The two mpiruns
 * have a socket to each other: the child ends its job when the socket ends. All functions run on
 * mpirun's loop.
 */

#include <stdbool.h>

#include "mpirun/plan/job/job_facts.h"

/* What a child tells its mpirun, and the reverse. */
enum tern_child_kind {
    /* up: */
    /* `value` is 1: a rank of its job is connected to another job; 0: none is. The text has its
     * words (job_ties.h) */
    TERN_CHILD_JOINED,
    TERN_CHILD_ASK,    /* a part of a question of a rank; `value` is 1 for the last part */
    TERN_CHILD_STILL,  /* `value` is 1: nothing moves in its job; 0, as at first: something does */
    TERN_CHILD_USES,   /* its job has `value` ranks on the host that the text names */
    /* down: */
    TERN_CHILD_SIGNAL, /* pass on signal `value` to the ranks */
    TERN_CHILD_END,    /* end the job, without a message */
};
enum { TERN_CHILD_TEXT = 4000 };
struct tern_child_message {
    int32_t kind, value;
    char text[TERN_CHILD_TEXT + 1]; /* only what is used travels, without the closing 0 */
};

struct tern_children_listener {
    /* A child has ended with this wait status. `joined`: its job was connected to this mpirun's;
     * `ever`: it has been connected to some job. `what` names it. */
    void (*ended)(const char *what, int wait_status, bool joined, bool ever);
    void (*asked)(const char *question);
};

/* Prepares. `hosts` are all hosts that the job may use; `host_count` 0: only this host, with any
 * number of ranks. */
void tern_children_open(const struct tern_job *job, const struct tern_host *hosts, int host_count,
                        const struct tern_children_listener *listener);
/* Starts the processes of a question (lib/util/net/question.h). If this fails, answers it. */
void tern_children_start(const char *question);
/* Returns the number of children that have not ended. */
int tern_children_count(void);
/* Returns a line for each of the first children that says how to ask where its ranks are. The lines
 * begin as those of where_table.h. The caller frees them. */
char *tern_children_name(void);
/* Returns true if this mpirun's job is connected to no others than the children's, and these have
 * said that nothing moves. */
bool tern_children_are_still(void);
/* Passes on a signal to the ranks of all children. */
void tern_children_signal(int number);
/* Makes all children end their jobs. They report their end later. */
void tern_children_end(void);
/* Kills all children; their guardians end the ranks. */
void tern_children_kill(void);

#endif
