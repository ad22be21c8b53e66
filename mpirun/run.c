/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a job:
 *
 *   RUNNING   ranks run; mpirun serves their output, input, signals and PMIx requests. After a
 *             signal that ends programs, which it passes on, they have leftover_grace_ms to end
 *   ENDING    a rank has failed, or time is up: all ranks got SIGTERM, SIGKILL follows
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
 * The first failure decides the message and the exit status; what happens to other ranks afterwards
 * is a consequence of it. rank_life.c says when a rank fails.
 *
 * Everything is decided here, for all hosts. Agents report what happens on other hosts with the
 * same messages of guardian and server, and the same functions handle them. */
#include "mpirun/run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/util/param.h"
#include "mpirun/base/loop.h"
#include "mpirun/jobs/rank_asks.h"
#include "mpirun/jobs/children.h"
#include "mpirun/jobs/spawned.h"
#include "mpirun/left_behind.h"
#include "mpirun/rank_life.h"
#include "mpirun/ranks/input.h"
#include "mpirun/ranks/local.h"
#include "mpirun/ranks/output.h"
#include "mpirun/serve/server_exchange.h"
#include "mpirun/tree/agents.h"

enum {
    SAY_WAIT_MS = 10000, /* until mpirun says for whom it waits */
    /* After a failure: to wait for hosts to report that nothing is left; longer than their
     * guardians take */
    KILL_GRACE_MS = 4000,
    TIMEOUT_STATUS = 110
};

enum stage { RUNNING, ENDING, WAITING, LEAVING, ASKED, CLEARING };

struct host {
    bool gone;   /* nothing of the job is left there, or the host cannot be reached */
    bool lost;   /* its agent is lost */
    int streams; /* open output streams of its ranks; output.c counts those of this machine */
};

static struct {
    const struct tern_job *job;
    enum stage stage;
    struct host *hosts;
    struct host here; /* mpirun's own host, if it has no ranks */
    int status;       /* exit status, once something has failed; 0 before */
    bool output_lost; /* the job goes on, but its exit status is not 0 */
    bool cut_short;   /* the ranks or what they left were told to end */
    bool killed;      /* the ranks were killed */
    char *failure;    /* message of the first failure, or NULL */
    bool begun;       /* the ranks have been started */
    int ending_signal; /* the first signal that was to end the ranks, or 0 */
    bool interrupted;
    bool done;        /* nothing is left to do but to wait for the jobs that ranks have started */
    sigset_t passed_on;  /* signals that users sent and mpirun passed on */
    sigset_t told_above; /* those of them that came from the mpirun that has started this one */
    struct tern_timer stage_timer, time_limit;
} run;

/* ---- ending ---- */

/* Sends a message to the guardian of the rank's host, or to all guardians if `rank` is -1. */
static void tell_guardian(int kind, int rank, int value)
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

/* Returns true if processes that ranks have left behind are not waited for. */
static bool is_cut_short(void)
{
    return run.cut_short || run.interrupted || (run.status && !run.job->options->keep_going);
}

static void set_stage(enum stage stage, int64_t limit_ms)
{
    run.stage = stage;
    tern_loop_stop_timer(&run.stage_timer);
    if (limit_ms >= 0)
        tern_loop_set_timer(&run.stage_timer, limit_ms);
}

/* Returns the time that processes have which ranks left behind, or -1 for no limit. */
static int64_t patience_ms(void)
{
    return tern_param_int(is_cut_short() ? "end_grace_ms" : "leftover_grace_ms");
}

void tern_run_kill(void)
{
    if (run.stage >= CLEARING)
        return;
    if (run.status)
        tern_children_end();
    tell_guardian(TERN_GUARDIAN_KILL, -1, !is_cut_short());
    set_stage(CLEARING, run.status && run.job->host_count > 1 ? KILL_GRACE_MS : -1);
}

/* Gives the processes that are left time to end by themselves. */
static void leave(void)
{
    set_stage(LEAVING, patience_ms());
}

/* Asks the processes that are left to end. */
static void ask(void)
{
    tell_guardian(TERN_GUARDIAN_ASK, -1, !is_cut_short());
    set_stage(ASKED, patience_ms());
}

void tern_run_end(void)
{
    if (run.stage == ENDING || run.stage >= ASKED)
        return;
    run.cut_short = true;
    tern_children_end();
    if (run.stage != RUNNING) {
        ask();
        return;
    }
    tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGTERM);
    tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGCONT);
    set_stage(ENDING, tern_param_int("end_grace_ms"));
}

/* Kills the ranks, but not yet what else belongs to the job: a filter behind the output of a rank
 * can end only after that rank. */
static void kill_ranks(void)
{
    run.killed = true;
    tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGKILL);
    set_stage(ENDING, KILL_GRACE_MS);
}

/* Ends the loop when the jobs that ranks have started have ended, too. */
static void stop(void)
{
    run.done = true;
    if (tern_children_count() == 0)
        tern_loop_stop();
}

/* Records a failure that is said elsewhere. */
static void fail_silently(int status)
{
    if (!run.status)
        run.status = status;
}

/* Records that the job ends by a signal which mpirun received; `what` says what mpirun did. The
 * first mpirun says it, once. */
static void fail_by_signal(int number, const char *what)
{
    if (sigismember(&run.told_above, number))
        fail_silently(128 + number);
    else
        tern_run_fail(128 + number, "mpirun received signal %d (%s)%s", number, strsignal(number),
                      what);
}

/* The ranks have not ended after a signal. */
static void signal_ignored(void)
{
    int ranks = tern_life_running();
    char *what = tern_must_format(" and passed it on, but %d rank%s had not ended %g s later "
                                  "(leftover_grace_ms); mpirun ended %s",
                                  ranks, ranks > 1 ? "s" : "",
                                  (double)tern_param_int("leftover_grace_ms") / 1000,
                                  ranks > 1 ? "them" : "it");
    fail_by_signal(run.ending_signal, what);
    free(what);
    tern_run_end();
}

static void stage_timer_expired(struct tern_timer *timer)
{
    (void)timer;
    if (run.stage == RUNNING) {
        signal_ignored();
    } else if (run.stage == ENDING && !run.killed) {
        kill_ranks();
    } else if (run.stage == WAITING) {
        tern_left_behind_say_wait();
        tell_guardian(TERN_GUARDIAN_NAME, -1, 0);
    } else if (run.stage == LEAVING) {
        ask();
    } else if (run.stage < CLEARING) {
        tern_run_kill();
    } else {
        stop();
    }
}

void tern_run_check_end(void)
{
    if (tern_life_running() == 0 && run.stage < WAITING) {
        tell_guardian(TERN_GUARDIAN_FINISH, -1, 0);
        if (is_cut_short() || open_streams() == 0)
            leave();
        else
            set_stage(WAITING, SAY_WAIT_MS);
    } else if (run.stage == WAITING && open_streams() == 0) {
        leave();
    }
}

void tern_run_resume(void)
{
    if (run.stage != WAITING && run.stage != LEAVING)
        return;
    set_stage(RUNNING, -1);
    if (is_cut_short()) /* another rank has failed meanwhile */
        tern_run_end();
}

void tern_run_fail(int status, const char *format, ...)
{
    if (!run.status) {
        char *text;
        va_list args;
        va_start(args, format);
        int length = vasprintf(&text, format, args);
        va_end(args);
        run.status = status;
        run.failure = length < 0 ? NULL : text;
    }
}

/* Returns true for a signal that asks a job to end. */
static bool is_ending(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

bool tern_run_fail_by_signal(int number)
{
    if (!is_ending(number) || !tern_run_passed_on(number))
        return false;
    fail_by_signal(number, ", passed it on to the ranks, and ended the job");
    return true;
}

bool tern_run_has_failed(void)
{
    return run.status != 0;
}

void tern_run_signal_rank(int rank, int number)
{
    tell_guardian(TERN_GUARDIAN_SIGNAL, rank, number);
}

bool tern_run_passed_on(int number)
{
    return sigismember(&run.passed_on, number) == 1;
}

/* ---- guardians and hosts ---- */

static bool all_gone(void)
{
    bool gone = run.here.gone;
    for (int host = 0; host < run.job->host_count; host++)
        gone &= run.hosts[host].gone;
    return gone;
}

/* Nothing of the job is left on a host. Its output is read to the end: a process outside the job
 * that holds a stream open is not waited for. */
static void host_cleared(int host)
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

static void guardian_lost(int host, int pid)
{
    if (!host_at(host)->gone)
        tern_run_fail(137, "the guardian process of this job (pid %d) was killed; the job ends now",
                      pid);
    forget_host(host);
    tern_run_end();
    host_cleared(host);
}

static void handle_answer(int host, const struct tern_guardian_message *answer)
{
    switch (answer->kind) {
    case TERN_GUARDIAN_STARTED:
        tern_life_started(answer->rank, answer->pid);
        break;
    case TERN_GUARDIAN_FAILED:
        tern_life_not_started(answer);
        break;
    case TERN_GUARDIAN_EXITED:
        tern_life_ended(answer->rank, answer->value);
        break;
    case TERN_GUARDIAN_ALONE:
        tern_life_alone(answer->rank);
        break;
    case TERN_GUARDIAN_LOST:
        guardian_lost(host, answer->pid);
        break;
    case TERN_GUARDIAN_LEFT:
        tern_left_behind_name(run.job, host, answer);
        break;
    case TERN_GUARDIAN_GONE:
        if (answer->value)
            tern_output_say("some processes of the job wait in the kernel and cannot be killed "
                            "now; they will end after that");
        host_cleared(host);
        break;
    }
}

void tern_run_answered(const struct tern_guardian_message *answer)
{
    handle_answer(run.job->here, answer);
}

/* ---- agents ---- */

static void agent_answered(const struct tern_frame *frame)
{
    struct tern_reader reader = { .at = frame->data, .left = frame->size };
    struct tern_guardian_message answer = { .kind = frame->value, .rank = frame->rank };
    answer.pid = (int32_t)tern_read_number(&reader);
    answer.value = (int32_t)tern_read_number(&reader);
    answer.step = tern_read_int(&reader, 0, TERN_STEP_EXEC);
    const char *text = tern_read_string(&reader);
    snprintf(answer.text, sizeof answer.text, "%s", text ? text : "");
    bool of_rank = answer.kind == TERN_GUARDIAN_STARTED || answer.kind == TERN_GUARDIAN_FAILED ||
                   answer.kind == TERN_GUARDIAN_EXITED || answer.kind == TERN_GUARDIAN_ALONE;
    if (!reader.bad && (!of_rank || (answer.rank >= 0 && answer.rank < run.job->map->size)))
        handle_answer(frame->host, &answer);
}

static void client_acted(const struct tern_frame *frame)
{
    int rank = frame->rank;
    struct tern_reader reader = { .at = frame->data, .left = frame->size };
    int number = (int)tern_read_number(&reader);
    const char *text = tern_read_string(&reader);
    if (reader.bad || rank < -1 || rank >= run.job->map->size ||
        (rank < 0 && frame->value != TERN_CLIENT_SIGNALLED))
        return;
    tern_client_tell(&tern_life_clients, frame->value, rank, number, text);
}

void tern_run_received(const struct tern_frame *frame)
{
    struct host *host = host_at(frame->host);
    switch (frame->kind) {
    case TERN_FRAME_GUARDIAN:
        agent_answered(frame);
        break;
    case TERN_FRAME_CLIENT:
        client_acted(frame);
        break;
    case TERN_FRAME_OUTPUT:
        tern_output_take(frame->host, frame->rank, frame->value, frame->data, frame->size);
        break;
    case TERN_FRAME_CLOSED:
        host->streams -= host->streams > 0;
        if (frame->rank >= 0 && frame->rank < run.job->map->size)
            tern_life_stream_closed(frame->rank);
        tern_run_check_end();
        break;
    case TERN_FRAME_UNWRITTEN:
        run.output_lost = true;
        break;
    case TERN_FRAME_TAKEN:
        tern_input_taken(frame->host, !frame->value);
        break;
    default:
        break;
    }
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
    if (run.stage < CLEARING || !run.hosts[host].gone)
        tern_run_fail(1, "host %s is lost: %s; the job ends now", run.job->hosts[host].name, why);
    forget_host(host);
    tern_run_end();
    host_cleared(host);
}

static void output_passed_on(int host, size_t bytes)
{
    tern_agents_send(
        &(struct tern_frame){ .kind = TERN_FRAME_CREDIT, .host = host, .value = (int32_t)bytes });
}

void tern_run_add_streams(int host, int streams)
{
    run.hosts[host].streams += streams;
}

/* ---- signals ---- */

/* Takes a signal that asks the job to end. Returns false if the ranks are to get it. */
static bool ends_at_once(int number)
{
    bool waiting = run.stage == WAITING || run.stage == LEAVING;
    run.interrupted |= number == SIGINT;
    if (waiting) {
        fail_by_signal(number, " while it waited for processes that the ranks had left in the "
                               "background, and ended these");
        tern_run_end();
    } else if (!run.begun) {
        fail_by_signal(number, " before it had started the ranks");
        tern_run_kill();
    } else if (number == SIGINT && run.ending_signal) {
        tern_children_kill();
        tern_run_fail(128 + SIGINT, run.ending_signal == SIGINT
                                        ? "interrupted twice: the job was killed"
                                        : "interrupted after another signal: the job was killed");
        tern_run_kill();
    } else {
        return false;
    }
    return true;
}

void tern_run_signalled(int number)
{
    if (number != SIGQUIT)
        sigaddset(&run.passed_on, number);
    if (is_ending(number)) {
        if (ends_at_once(number))
            return;
        if (!run.ending_signal && run.stage == RUNNING)
            set_stage(RUNNING, tern_param_int("leftover_grace_ms"));
        run.ending_signal = run.ending_signal ? run.ending_signal : number;
    }
    switch (number) {
    case SIGTSTP:
        tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGTSTP);
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
        tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGCONT);
        tern_children_signal(SIGCONT);
        tern_input_check_foreground();
        break;
    default:
        tell_guardian(TERN_GUARDIAN_SIGNAL, -1, number);
        tern_children_signal(number);
    }
}

/* ---- jobs that ranks have started, and the job that has started this one ---- */

/* Returns the exit status for a child's wait status. */
static int status_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* A failed job ends those that it is connected to. Else its status only counts for mpirun's. */
static void child_ended(const char *what, int wait_status, bool joined, bool ever)
{
    int status = status_of(wait_status);
    bool ended = run.stage != RUNNING && run.status;
    if (status && ever && !ended) {
        if (WIFSIGNALED(wait_status))
            tern_run_fail(status, "the mpirun of %s was killed by signal %d (%s)", what,
                          WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
        else if (tern_run_fail_by_signal(status - 128))
            ; /* all jobs got the signal */
        else if (joined)
            tern_run_fail(status, "%s has failed, and this job is connected to it", what);
        else
            fail_silently(status); /* its own mpirun has said why */
        if (joined)
            tern_run_end();
    }
    if (run.done)
        stop();
}

static const struct tern_children_listener children_listener = {child_ended, tern_asked};

/* Ends the job because its parents want it, or have ended. */
static void parents_end(const char *why)
{
    if (run.stage == ENDING || run.stage >= ASKED)
        return;
    if (why)
        tern_run_fail(1, "%s", why);
    else
        fail_silently(1);
    tern_run_end();
}

static void parents_signalled(int number)
{
    sigaddset(&run.told_above, number);
    tern_run_signalled(number);
}

const struct tern_spawned_listener tern_run_parents = {parents_signalled, parents_end};

/* ---- output and time ---- */

static void stream_closed(int rank)
{
    tern_life_stream_closed(rank);
    tern_run_check_end();
}

static void file_failed(int rank)
{
    (void)rank;
    run.output_lost = true;
}

void tern_run_say_closed(const char *stream)
{
    tern_log(
        "standard %s is closed, so this output of the ranks is lost; redirect it to /dev/null if "
        "you do not need it",
        stream);
}

/* Handles a failed write of mpirun's own output. If its reader has gone (mpirun ... | head), the
 * job ends, as any program in a pipe does. If the stream was closed before mpirun began, nobody
 * wants the output, and the job goes on. */
static void write_failed(int which, int error_number)
{
    if (error_number == EBADF) {
        run.output_lost = true;
        tern_run_say_closed(which == 1 ? "output" : "error");
        return;
    }
    if (error_number == EPIPE) {
        if (!run.status)
            run.status = 128 + SIGPIPE;
    } else {
        tern_run_fail(1, "cannot write the ranks' output: %s", strerror(error_number));
    }
    tern_run_end();
    tern_run_check_end();
}

/* Ends the job. `table` says where its ranks are. */
static void end_in_time(const char *table, void *unused)
{
    (void)unused;
    if (run.stage == ENDING || run.stage >= ASKED)
        return;
    tern_run_fail(TIMEOUT_STATUS,
         "the job has run for %d seconds, the limit of --timeout, and was ended%s",
         run.job->options->timeout_s, table);
    tern_run_end();
}

static void time_is_up(struct tern_timer *timer)
{
    (void)timer;
    if (!tern_where_ask(end_in_time, NULL))
        end_in_time("", NULL);
}

/* ---- for main.c and job.c ---- */

/* Ranks that wait for another job do not hang, if something moves there. A job that has been
 * started by another one leaves it to that mpirun, as long as they are connected. */
static bool others_are_still(bool still)
{
    if (!tern_spawned_has_parent())
        return tern_children_are_still();
    tern_spawned_still(still);
    return !tern_life_is_joined();
}

const struct tern_where_listener tern_run_where = {tern_life_state, tern_run_lost,
                                                   tern_run_goes_on, tern_children_name,
                                                   others_are_still};

const struct tern_output_listener tern_run_output = {
    .process_of = tern_life_process,
    .closed = stream_closed,
    .file_failed = file_failed,
    .write_failed = write_failed,
    .passed_on = output_passed_on,
};

void tern_run_open(const struct tern_job *job, const struct tern_host *hosts, int host_count)
{
    run.job = job;
    tern_life_open(job);
    tern_children_open(job, hosts, host_count, &children_listener);
    run.hosts = tern_must_alloc(job->host_count * sizeof *run.hosts);
    run.here.gone = job->here >= 0;
    run.stage_timer.expired = stage_timer_expired;
    run.time_limit.expired = time_is_up;
    sigemptyset(&run.passed_on);
    sigemptyset(&run.told_above);
}

void tern_run_begins(void)
{
    run.begun = true;
}

bool tern_run_goes_on(void)
{
    return run.stage == RUNNING;
}

void tern_run_limit_time(int seconds)
{
    tern_loop_set_timer(&run.time_limit, (int64_t)seconds * 1000);
}

int tern_run_status(const char **ret_failure)
{
    *ret_failure = run.failure;
    return run.status ? run.status : run.output_lost;
}
