/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/user_signals.h"

#include <signal.h>
#include <stdbool.h>

#include "mpirun/failure.h"
#include "mpirun/jobs/children.h"
#include "mpirun/ranks/guardian.h"
#include "mpirun/ranks/input.h"
#include "mpirun/run.h"
#include "mpirun/tree/agents.h"
#include "mpirun/where/where.h"

/* Takes a signal that asks the job to end. Returns false if the ranks are to get it. */
static bool ends_at_once(int number)
{
    enum tern_job_stage stage = tern_run_job_stage();
    if (stage == TERN_WAITING || stage == TERN_LEAVING) {
        tern_failure_record_signal(number, " while it waited for processes that the ranks had left "
                                           "in the background, and ended these");
        tern_run_end();
        return true;
    }
    if (!tern_run_has_begun()) {
        tern_failure_record_signal(number, " before it had started the ranks");
        tern_run_kill();
        return true;
    }
    int before = tern_run_await_end(number);
    if (number != SIGINT || !before)
        return false;
    tern_children_kill();
    tern_failure_record(128 + SIGINT, before == SIGINT
                                          ? "interrupted twice: the job was killed"
                                          : "interrupted after another signal: the job was killed");
    tern_run_kill();
    return true;
}

static void take(int number, bool told_above)
{
    if (number != SIGQUIT)
        tern_failure_note_signal(number, told_above);
    if (tern_failure_is_ending(number) && ends_at_once(number))
        return;
    switch (number) {
    case SIGTSTP:
        tern_run_tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGTSTP);
        tern_children_signal(SIGTSTP);
        tern_agents_excuse(true);
        raise(SIGSTOP);
        tern_agents_excuse(false);
        break;
    case SIGQUIT:
        tern_where_show();
        tern_children_signal(number);
        break;
    case SIGCONT:
        tern_run_tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGCONT);
        tern_children_signal(SIGCONT);
        tern_input_check_foreground();
        break;
    default:
        tern_run_tell_guardian(TERN_GUARDIAN_SIGNAL, -1, number);
        tern_children_signal(number);
    }
}

void tern_user_signal(int number)
{
    take(number, false);
}

void tern_user_signal_above(int number)
{
    take(number, true);
}
