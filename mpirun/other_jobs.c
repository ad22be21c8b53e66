/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/other_jobs.h"

#include <string.h>
#include <sys/wait.h>

#include "mpirun/failure.h"
#include "mpirun/jobs/children.h"
#include "mpirun/jobs/rank_asks.h"
#include "mpirun/rank_life.h"
#include "mpirun/run.h"
#include "mpirun/user_signals.h"

/* Returns the exit status for a child's wait status. */
static int status_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* A failed job ends those that it is connected to. Else its status only counts for mpirun's. */
static void child_ended(const char *what, int wait_status, bool joined, bool ever)
{
    int status = status_of(wait_status);
    bool ended = !tern_run_goes_on() && tern_failure_is_recorded();
    if (status && ever && !ended) {
        if (WIFSIGNALED(wait_status))
            tern_failure_record(status, "the mpirun of %s was killed by signal %d (%s)", what,
                                WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
        else if (tern_failure_blame_signal(status - 128))
            ; /* all jobs got the signal */
        else if (joined)
            tern_failure_record(status, "%s has failed, and this job is connected to it", what);
        else
            tern_failure_record_silently(status); /* its own mpirun has said why */
        if (joined)
            tern_run_end();
    }
    tern_run_check_done();
}

static const struct tern_children_listener children_listener = {child_ended, tern_asked};

/* Ends the job because its parents want it, or have ended. */
static void parents_end(const char *why)
{
    if (tern_run_is_ending())
        return;
    if (why)
        tern_failure_record(1, "%s", why);
    else
        tern_failure_record_silently(1);
    tern_run_end();
}

const struct tern_spawned_listener tern_other_jobs_parents = {tern_user_signal_above, parents_end};

/* Ranks that wait for another job do not hang, if something moves there. A job that has been
 * started by another one leaves it to that mpirun, as long as they are connected. */
static bool others_are_still(bool still)
{
    if (!tern_spawned_has_parent())
        return tern_children_are_still();
    tern_spawned_still(still);
    return !tern_life_is_joined();
}

const struct tern_where_listener tern_other_jobs_where = {
    tern_life_state, tern_run_lost, tern_run_goes_on, tern_children_name, others_are_still};

void tern_other_jobs_open(const struct tern_job *job, const struct tern_host *hosts, int host_count)
{
    tern_children_open(job, hosts, host_count, &children_listener);
}
