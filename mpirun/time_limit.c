/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/time_limit.h"

#include "mpirun/base/loop.h"
#include "mpirun/failure.h"
#include "mpirun/run.h"
#include "mpirun/where/where.h"

enum { TIMEOUT_STATUS = 110 };

static struct {
    int seconds;
    struct tern_timer timer;
} limit;

/* Ends the job. `table` says where its ranks are. */
static void end_in_time(const char *table, void *unused)
{
    (void)unused;
    if (tern_run_is_ending())
        return;
    tern_failure_record(TIMEOUT_STATUS,
                        "the job has run for %d seconds, the limit of --timeout, and was ended%s",
                        limit.seconds, table);
    tern_run_end();
}

static void time_is_up(struct tern_timer *timer)
{
    (void)timer;
    if (!tern_where_ask(end_in_time, NULL))
        end_in_time("", NULL);
}

void tern_time_limit_start(int seconds)
{
    limit.seconds = seconds;
    limit.timer.expired = time_is_up;
    tern_loop_set_timer(&limit.timer, (int64_t)seconds * 1000);
}
