/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a job:
 *
 *   RUNNING   ranks run; mpirun serves their output, input, signals and PMIx requests. After a
 *             signal that ends programs, which it passes on, they have leftover_grace_ms to end
 *   ENDING    a rank has failed, time is up, or a signal was ignored: all ranks got SIGTERM, and
 *             SIGKILL follows
 *   WAITING   all ranks have ended well, but processes that they left in the background, such as
 *             `sort | gzip` behind a script's output, hold streams of the ranks open. As with Open
 *             MPI, the job lasts until they have closed them, however long that takes
 *   LEAVING   the other processes that are left have time to end by themselves
 *   ASKED     they got SIGTERM
 *   CLEARING  they got SIGKILL
 *
 * Each guardian reports when nothing is left on its host; after the last report the job is over.
 * Whatever a process of the job has written can be read at once then, so nobody waits for output.
 * A job that has failed does not wait for streams, and gives the others end_grace_ms in place of
 * leftover_grace_ms.
 *
 * rank_life.c says when a rank fails, failure.c what mpirun says then, and its exit status. */
#include "mpirun/run.h"

#include <signal.h>
#include <stdlib.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "mpirun/base/loop.h"
#include "mpirun/failure.h"
#include "mpirun/jobs/children.h"
#include "mpirun/left_behind.h"
#include "mpirun/rank_life.h"
#include "mpirun/ranks/local.h"
#include "mpirun/ranks/output.h"
#include "mpirun/tree/agents.h"
#include "mpirun/wire/frame.h"

enum {
    SAY_WAIT_MS = 10000, /* until mpirun says for whom it waits */
    /* After a failure: to wait for hosts to report that nothing is left; longer than their
     * guardians take */
    KILL_GRACE_MS = 4000,
};

struct host {
    bool gone;   /* nothing of the job is left there, or the host cannot be reached */
    bool lost;   /* its agent is lost */
    int streams; /* open output streams of its ranks; output.c counts those of this machine */
};

static struct {
    const struct tern_job *job;
    enum tern_job_stage stage;
    struct host *hosts;
    struct host here;  /* mpirun's own host, if it has no ranks */
    bool begun;        /* the ranks have been started */
    bool cut_short;    /* what ranks leave behind is not waited for */
    bool killed;       /* the ranks were killed */
    bool wait_ended;   /* a signal ended the wait for left processes: name those killed */
    int ending_signal; /* the first signal that was to end the ranks, or 0 */
    bool done;         /* nothing is left to do but to wait for the jobs that ranks have started */
    struct tern_timer stage_timer;
} run;

/* ---- ending ---- */

void tern_run_tell_guardian(int kind, int rank, int value)
{
    int host = rank < 0 ? TERN_EVERY_HOST : run.job->map->places[rank].host;
    struct tern_frame order = {
        .kind = TERN_FRAME_ORDER, .host = host, .rank = rank, .value = kind, .id = (uint64_t)value
    };
    if (host == TERN_EVERY_HOST || host == run.job->here)
        tern_local_order(kind, rank, value);
    if (host != run.job->here)
        tern_agents_send(&order);
}

static struct host *host_at(int host)
{
    return host >= 0 && host < run.job->host_count ? &run.hosts[host] : &run.here;
}

static int open_streams(void)
{
    int streams = tern_output_open_streams();
    for (int host = 0; host < run.job->host_count; host++)
        streams += run.hosts[host].streams;
    return streams;
}

/* Returns true if processes that ranks have left behind are not waited for. A signal alone does not
 * mean that: ranks that have caught it and end well have not failed. */
static bool is_cut_short(void)
{
    return run.cut_short || (tern_failure_is_recorded() &&
                             (!run.job->options->keep_going || run.ending_signal));
}

static void set_stage(enum tern_job_stage stage, int64_t limit_ms)
{
    run.stage = stage;
    tern_loop_stop_timer(&run.stage_timer);
    if (limit_ms >= 0)
        tern_loop_set_timer(&run.stage_timer, limit_ms);
}

int64_t tern_run_patience_ms(void)
{
    return tern_param_int(is_cut_short() ? "end_grace_ms" : "leftover_grace_ms");
}

void tern_run_kill(void)
{
    if (run.stage >= TERN_CLEARING)
        return;
    if (tern_failure_is_recorded())
        tern_children_end();
    tern_run_tell_guardian(TERN_GUARDIAN_KILL, -1, run.wait_ended || !is_cut_short());
    set_stage(TERN_CLEARING,
              tern_failure_is_recorded() && run.job->host_count > 1 ? KILL_GRACE_MS : -1);
}

/* Gives the processes that are left time to end by themselves. */
static void leave(void)
{
    set_stage(TERN_LEAVING, tern_run_patience_ms());
}

/* Asks the processes that are left to end. */
static void ask(void)
{
    tern_run_tell_guardian(TERN_GUARDIAN_ASK, -1, !is_cut_short());
    set_stage(TERN_ASKED, tern_run_patience_ms());
}

void tern_run_end(void)
{
    if (tern_run_is_ending())
        return;
    run.cut_short = true;
    tern_children_end();
    if (run.stage != TERN_RUNNING) {
        run.wait_ended = true;
        ask();
        return;
    }
    tern_run_tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGTERM);
    tern_run_tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGCONT);
    set_stage(TERN_ENDING, tern_param_int("end_grace_ms"));
}

/* Kills the ranks, but not yet what else belongs to the job: a filter behind the output of a rank
 * can end only after that rank. */
static void kill_ranks(void)
{
    run.killed = true;
    tern_run_tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGKILL);
    set_stage(TERN_ENDING, KILL_GRACE_MS);
}

/* Ends the loop when the jobs that ranks have started have ended, too. */
static void stop(void)
{
    run.done = true;
    if (tern_children_count() == 0)
        tern_loop_stop();
}

/* The ranks have not ended after a signal. */
static void signal_ignored(void)
{
    int ranks = tern_life_running();
    char *named = tern_life_name_running();
    char *what = tern_must_format(" and passed it on, but %d rank%s had not ended %g s later "
                                  "(leftover_grace_ms); mpirun ended %s",
                                  ranks, ranks > 1 ? "s" : "",
                                  (double)tern_param_int("leftover_grace_ms") / 1000, named);
    free(named);
    tern_failure_record_signal(run.ending_signal, what);
    free(what);
    tern_run_end();
}

static void stage_timer_expired(struct tern_timer *timer)
{
    (void)timer;
    if (run.stage == TERN_RUNNING) {
        signal_ignored();
    } else if (run.stage == TERN_ENDING && !run.killed) {
        kill_ranks();
    } else if (run.stage == TERN_WAITING) {
        tern_left_behind_say_wait();
        tern_run_tell_guardian(TERN_GUARDIAN_NAME, -1, 0);
    } else if (run.stage == TERN_LEAVING) {
        ask();
    } else if (run.stage < TERN_CLEARING) {
        tern_run_kill();
    } else {
        stop();
    }
}

void tern_run_check_end(void)
{
    if (tern_life_running() == 0 && run.stage < TERN_WAITING) {
        tern_run_tell_guardian(TERN_GUARDIAN_FINISH, -1, 0);
        if (is_cut_short() || open_streams() == 0)
            leave();
        else
            set_stage(TERN_WAITING, SAY_WAIT_MS);
    } else if (run.stage == TERN_WAITING && open_streams() == 0) {
        leave();
    }
}

void tern_run_resume(void)
{
    if (run.stage != TERN_WAITING && run.stage != TERN_LEAVING)
        return;
    set_stage(TERN_RUNNING, -1);
    if (is_cut_short()) /* another rank has failed meanwhile */
        tern_run_end();
}

int tern_run_await_end(int number)
{
    int before = run.ending_signal;
    if (before)
        return before;
    run.ending_signal = number;
    if (run.stage == TERN_RUNNING)
        set_stage(TERN_RUNNING, tern_param_int("leftover_grace_ms"));
    return 0;
}

int tern_run_ending_signal(void)
{
    return run.ending_signal;
}

void tern_run_check_done(void)
{
    if (run.done)
        stop();
}

/* ---- hosts ---- */

static bool all_gone(void)
{
    bool gone = run.here.gone;
    for (int host = 0; host < run.job->host_count; host++)
        gone &= run.hosts[host].gone;
    return gone;
}

/* The host's output is read to the end: a process outside the job that holds a stream open is not
 * waited for. */
void tern_run_host_cleared(int host)
{
    host_at(host)->gone = true;
    host_at(host)->streams = 0;
    if (host == run.job->here)
        tern_output_end_streams();
    if (all_gone())
        stop();
    else
        tern_run_check_end();
}

/* Nothing more will be heard of a lost host. */
static void forget_host(int host)
{
    tern_life_forget(host);
    host_at(host)->streams = 0;
}

void tern_run_guardian_lost(int host, int pid)
{
    if (!host_at(host)->gone)
        tern_failure_record(
            137, "the guardian process of this job (pid %d) was killed; the job ends now", pid);
    forget_host(host);
    tern_run_end();
    tern_run_host_cleared(host);
}

bool tern_run_lost(int host)
{
    return run.hosts[host].lost;
}

void tern_run_lose(int host, const char *why)
{
    if (!run.hosts || run.hosts[host].lost)
        return;
    run.hosts[host].lost = true;
    if (run.stage < TERN_CLEARING || !run.hosts[host].gone)
        tern_failure_record(1, "host %s is lost: %s; the job ends now", run.job->hosts[host].name,
                            why);
    forget_host(host);
    tern_run_end();
    tern_run_host_cleared(host);
}

void tern_run_add_streams(int host, int streams)
{
    run.hosts[host].streams += streams;
}

void tern_run_close_stream(int host)
{
    host_at(host)->streams -= host_at(host)->streams > 0;
    tern_run_check_end();
}

/* ---- the begin ---- */

void tern_run_open(const struct tern_job *job)
{
    run.job = job;
    tern_life_open(job);
    run.hosts = tern_must_alloc(job->host_count * sizeof *run.hosts);
    run.here.gone = job->here >= 0;
    run.stage_timer.expired = stage_timer_expired;
}

void tern_run_begins(void)
{
    run.begun = true;
}

bool tern_run_has_begun(void)
{
    return run.begun;
}

enum tern_job_stage tern_run_job_stage(void)
{
    return run.stage;
}

bool tern_run_goes_on(void)
{
    return run.stage == TERN_RUNNING;
}

bool tern_run_is_ending(void)
{
    return run.stage == TERN_ENDING || run.stage >= TERN_ASKED;
}
