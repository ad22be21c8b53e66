/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WHERE_H
#define TERN_MPIRUN_WHERE_H

/* Asks all hosts of the job where their ranks are, and watches for the moment when nothing moves
 * any more. All functions run on mpirun's loop. */

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/serve/rank_states.h"
#include "mpirun/wire/frame.h"

/* What mpirun's other files know of ranks and hosts. */
struct tern_where_listener {
    enum tern_rank_state (*state_of)(int rank);
    bool (*is_lost)(int host); /* the host will not answer any more */
    bool (*goes_on)(void);     /* the job is not being ended */
    char *(*name_others)(void); /* lines about the jobs that ranks have started; the caller frees */
    /* Called when all hosts have answered a glance: `still` says that nothing in this job has
     * moved. Returns true if it waits for no job in which something may have. */
    bool (*others_are_still)(bool still);
};

/* Prepares for the job. */
void tern_where_open(const struct tern_job *job, const struct tern_where_listener *listener);
/* Calls `told` with a text of several lines (where_table.h) when all hosts have answered, or after
 * three seconds. Returns false, and calls nothing, if too many ask at a time. */
bool tern_where_ask(void (*told)(const char *table, void *to), void *to);
/* While `told` runs: returns the waits of the ranks as where_circles.h writes them. */
const char *tern_where_waits(void);
/* Asks, and prints the table on standard error. */
void tern_where_show(void);
/* Begins to watch the ranks, as the parameter hang_report_s says. Call it when they are started. */
void tern_where_watch(void);
/* Returns "job of 4 ranks, pid 77", or "job 2 of 4 ranks, pid 78" for one that ranks have started.
 * Valid until the next call. */
const char *tern_where_job(void);

/* Takes a frame of an agent. Returns false if the frame is not for this file. */
bool tern_where_received(const struct tern_frame *frame);

#endif
