/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a job:
 *
 *   RUNNING   ranks run; their output, input, signals and PMIx requests are served
 *   ENDING    a rank has failed, or time is up: all got SIGTERM, SIGKILL follows
 *   CLEARING  all ranks have ended: the guardian kills what they left behind
 *   DRAINING  what is still in pipes and pseudo-terminals is read
 *
 * The first failure decides message and exit status; what happens to other ranks afterwards is its
 * consequence. A rank fails when a signal kills it, when its exit code is not 0, when it calls
 * MPI_Abort, when it ends after MPI_Init and before MPI_Finalize, and when it ends without MPI_Init
 * that others wait in (in sessions nobody waits). A rank may be a script that goes on when its MPI program has died: the
 * server sees the connection end, and the job ends as if the rank had.
 */
#include "mpirun/job.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/hmac.h"
#include "lib/util/log.h"
#include "mpirun/descendants.h"
#include "mpirun/environment.h"
#include "mpirun/guardian.h"
#include "mpirun/input.h"
#include "mpirun/loop.h"
#include "mpirun/node_memory.h"
#include "mpirun/output.h"
#include "mpirun/server.h"
#include "mpirun/session.h"
#include "mpirun/spawn.h"

enum {
    END_GRACE_MS = 300,
    LEFTOVER_GRACE_MS = 200,
    DRAIN_GRACE_MS = 500,
    LOST_GRACE_MS = 100, /* for the rank's own end, which tells more */
    KILL_TIMEOUT_MS = 2000,
    TIMEOUT_STATUS = 110
};

enum stage { RUNNING, ENDING, CLEARING, DRAINING };

struct rank {
    pid_t pid;
    bool ended, connected, finalized, lost;
    bool world; /* connected by MPI_Init, not only by sessions */
};

static struct {
    const struct tern_job *job;
    enum stage stage;
    struct rank *ranks;
    int running;      /* ranks that have not ended */
    int worlds;       /* ranks between MPI_Init and MPI_Finalize */
    int skipped_init; /* a rank that ended well without MPI_Init, or -1 */
    int status;       /* exit status, once something has failed */
    char *failure;    /* what to say about it */
    int interrupts;
    sigset_t passed_on; /* signals that users sent */
    pid_t guardian_pid;
    struct tern_guardian_start guardian_start;
    char token[33];
    char session_dir[600];
    struct tern_watch guardian, signals, server;
    struct tern_timer stage_timer, time_limit, lost_timer;
} run = { .skipped_init = -1 };

/* ---- ending ---- */

static void tell_guardian(int kind, int rank, int value)
{
    struct tern_guardian_message message = { .kind = kind, .rank = rank, .value = value };
    /* If it has gone, its end of the socket says so to the loop. */
    tern_guardian_send(run.guardian.fd, &message, NULL, 0);
}

static void kill_all(void)
{
    if (run.stage >= CLEARING)
        return;
    run.stage = CLEARING;
    tern_loop_stop_timer(&run.stage_timer);
    tell_guardian(TERN_GUARDIAN_KILL, -1, 0);
}

static void end_job(void)
{
    if (run.stage != RUNNING)
        return;
    run.stage = ENDING;
    tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGTERM);
    tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGCONT);
    tern_loop_set_timer(&run.stage_timer, END_GRACE_MS);
}

static void complete(void)
{
    tern_loop_stop();
}

static void stage_timer_expired(struct tern_timer *timer)
{
    (void)timer;
    if (run.stage == DRAINING)
        complete();
    else
        kill_all();
}

/* Goes on to the next stage when this one is over. Background processes of ranks may still write:
 * they get a moment. */
static void check_end(void)
{
    if (run.running == 0 && run.stage < CLEARING) {
        if (tern_output_open_streams() == 0)
            kill_all();
        else if (run.stage == RUNNING && !run.stage_timer.due_ms)
            tern_loop_set_timer(&run.stage_timer, LEFTOVER_GRACE_MS);
    } else if (run.stage == DRAINING && tern_output_open_streams() == 0) {
        complete();
    }
}

__attribute__((format(printf, 2, 3))) static void fail(int status, const char *format, ...)
{
    if (!run.status) {
        char text[1500];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        run.status = status;
        run.failure = tern_must_copy(text);
    }
}

static const char *whose(int rank)
{
    static char text[400];
    snprintf(text, sizeof text, "rank %d (pid %d on host %s)", rank, (int)run.ranks[rank].pid,
             run.job->host->name);
    return text;
}

/* ---- what happens to ranks ---- */

static void fail_by_signal(int rank, int wait_status)
{
    int number = WTERMSIG(wait_status);
    if (sigismember(&run.passed_on, number) == 1)
        fail(128 + number, "the job was ended by signal %d (%s), which was passed on to its ranks",
             number, strsignal(number));
    else
        fail(128 + number, "%s was killed by signal %d (%s)%s", whose(rank), number,
             strsignal(number), WCOREDUMP(wait_status) ? ", core dumped" : "");
}

/* What a rank that is connected should have called. */
static const char *missing_end(const struct rank *state)
{
    return state->world ? "MPI_Finalize" : "MPI_Finalize or MPI_Session_finalize";
}

static void rank_ended(int rank, int wait_status)
{
    struct rank *state = &run.ranks[rank];
    if (state->ended)
        return;
    /* What it did before it ended, Finalize above all, may still lie in the server's queue. */
    tern_server_dispatch();
    state->ended = true;
    run.running--;
    bool ending = run.stage != RUNNING;
    bool unfinished = state->connected && !state->finalized;
    if (ending) {
        ; /* we ended it */
    } else if (WIFSIGNALED(wait_status)) {
        fail_by_signal(rank, wait_status);
    } else if (WEXITSTATUS(wait_status)) {
        fail(WEXITSTATUS(wait_status), "%s exited with code %d%s%s", whose(rank),
             WEXITSTATUS(wait_status), unfinished ? " without calling " : "",
             unfinished ? missing_end(state) : "");
    } else if (unfinished) {
        fail(1, "%s exited with code 0 without calling %s", whose(rank), missing_end(state));
    } else if (!state->connected && run.worlds) {
        fail(1, "%s exited without calling MPI_Init, in which other ranks wait for it",
             whose(rank));
    } else if (!state->connected) {
        run.skipped_init = rank;
    }
    bool harmless = run.job->options->keep_going && WIFEXITED(wait_status) && !unfinished;
    if (run.status && !harmless && run.running)
        end_job();
    check_end();
}

static void rank_connected(int rank)
{
    struct rank *state = &run.ranks[rank];
    state->connected = true;
    state->finalized = state->lost = false;
}

static void rank_started_world(int rank)
{
    struct rank *state = &run.ranks[rank];
    if (!state->world)
        run.worlds++;
    state->world = true;
    if (run.skipped_init >= 0 && run.stage == RUNNING) {
        fail(1, "%s exited without calling MPI_Init, in which other ranks wait for it",
             whose(run.skipped_init));
        end_job();
    }
}

static void rank_finalized(int rank)
{
    struct rank *state = &run.ranks[rank];
    if (state->world)
        run.worlds--;
    state->world = false;
    state->finalized = true;
}

static void rank_lost(int rank)
{
    struct rank *state = &run.ranks[rank];
    if (!state->connected || state->finalized)
        return;
    state->lost = true;
    tern_loop_set_timer(&run.lost_timer, LOST_GRACE_MS);
}

static void lost_timer_expired(struct tern_timer *timer)
{
    (void)timer;
    for (int rank = 0; rank < run.job->map->size && run.stage == RUNNING; rank++) {
        if (!run.ranks[rank].lost || run.ranks[rank].ended)
            continue;
        fail(1, "the MPI program of %s ended without calling %s", whose(rank),
             missing_end(&run.ranks[rank]));
        end_job();
    }
}

static void rank_aborted(int rank, int status, const char *message)
{
    int exit_status = status & 0xff;
    const char *said = message && *message && strcmp(message, "N/A") ? message : NULL;
    if (run.stage == RUNNING)
        fail(exit_status ? exit_status : 1, "%s called MPI_Abort with code %d%s%s", whose(rank),
             status, said ? ": " : "", said ? said : "");
    end_job();
}

static void rank_signalled(int rank, int number)
{
    tell_guardian(TERN_GUARDIAN_SIGNAL, rank, number);
}

static void rank_not_started(const struct tern_guardian_message *answer)
{
    static const char *const steps[] = {
        [TERN_STEP_FORK] = "fork",
        [TERN_STEP_DESCRIPTORS] = "setting up its descriptors",
        [TERN_STEP_WDIR] = "changing to its working directory",
        [TERN_STEP_EXEC] = "executing the program",
    };
    int app = run.job->map->places[answer->rank].app;
    bool wrong_format = answer->step == TERN_STEP_EXEC && answer->value == ENOEXEC;
    fail(answer->step == TERN_STEP_EXEC ? 126 : 1,
         "cannot start rank %d on host %s: %s (%s) failed: %s%s", answer->rank, run.job->host->name,
         steps[answer->step], run.job->paths[app], strerror(answer->value),
         wrong_format ? " (a script needs a first line such as #!/bin/sh)" : "");
    run.ranks[answer->rank].ended = true;
    run.running--;
    end_job();
    check_end();
}

/* ---- the guardian ---- */

static void guardian_gone(void)
{
    tern_loop_watch(&run.guardian, 0);
    if (run.stage != DRAINING || run.running) {
        fail(137, "the guardian of this job (pid %d) has been killed; the job is ended",
             (int)run.guardian_pid);
        /* All that descended from it has become ours. */
        tern_descendants_kill(KILL_TIMEOUT_MS, NULL);
    }
    tern_session_remove(run.session_dir);
    run.guardian_pid = 0;
    run.running = 0;
    run.stage = DRAINING;
    tern_loop_set_timer(&run.stage_timer, DRAIN_GRACE_MS);
    check_end();
}

static void handle_answer(const struct tern_guardian_message *answer)
{
    switch (answer->kind) {
    case TERN_GUARDIAN_STARTED:
        run.ranks[answer->rank].pid = answer->pid;
        if (run.job->options->verbose)
            tern_output_say("rank %d is process %d", answer->rank, answer->pid);
        break;
    case TERN_GUARDIAN_FAILED:
        rank_not_started(answer);
        break;
    case TERN_GUARDIAN_EXITED:
        rank_ended(answer->rank, answer->value);
        break;
    case TERN_GUARDIAN_GONE:
        if (answer->value)
            tern_output_say("some processes of the job cannot be killed; they will end when the "
                            "kernel lets them");
        run.stage = DRAINING;
        tern_loop_set_timer(&run.stage_timer, DRAIN_GRACE_MS);
        check_end();
        break;
    }
}

static void guardian_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    struct tern_guardian_message answer;
    int fds[3], fd_count, got;
    while ((got = tern_guardian_receive(watch->fd, &answer, fds, &fd_count)) > 0)
        handle_answer(&answer);
    if (got < 0)
        guardian_gone();
}

static int start_guardian(void)
{
    tern_descendants_spare_present();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int error = tern_guardian_fork(&run.guardian_start, &run.guardian_pid, &run.guardian.fd);
    if (error)
        return error;
    struct tern_guardian_message answer;
    int fds[3], fd_count, got;
    while ((got = tern_guardian_receive(run.guardian.fd, &answer, fds, &fd_count)) == 0)
        poll(&(struct pollfd){ run.guardian.fd, POLLIN, 0 }, 1, -1);
    if (got < 0)
        return tern_error(TERN_ERR_OTHER, "the guardian process did not start");
    if (answer.kind != TERN_GUARDIAN_READY)
        return tern_error(TERN_ERR_OTHER, "%s", answer.text);
    snprintf(run.session_dir, sizeof run.session_dir, "%s", answer.text);
    tern_session_hold(run.session_dir);
    run.guardian.ready = guardian_ready;
    if (tern_loop_watch(&run.guardian, EPOLLIN) < 0)
        return tern_error(TERN_ERR_OTHER, "epoll_ctl: %s", strerror(errno));
    return 0;
}

/* ---- signals ---- */

static void interrupted(void)
{
    if (++run.interrupts == 1) {
        tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGINT);
        return;
    }
    fail(128 + SIGINT, "interrupted twice: the job was killed");
    kill_all();
}

static void handle_signal(int number)
{
    sigaddset(&run.passed_on, number);
    switch (number) {
    case SIGINT:
        interrupted();
        break;
    case SIGTSTP:
        tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGTSTP);
        raise(SIGSTOP);
        break;
    case SIGCONT:
        tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGCONT);
        tern_input_check_foreground();
        break;
    default:
        tell_guardian(TERN_GUARDIAN_SIGNAL, -1, number);
    }
}

static void signals_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    struct signalfd_siginfo info;
    while (read(watch->fd, &info, sizeof info) == sizeof info)
        handle_signal((int)info.ssi_signo);
}

static const int forwarded[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                 SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT };

static int catch_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++) {
        if (forwarded[i] != SIGHUP || !run.guardian_start.hangup_ignored)
            sigaddset(&set, forwarded[i]);
    }
    sigprocmask(SIG_SETMASK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes also holds for memory files */
    signal(SIGCHLD, SIG_DFL);
    run.signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    run.signals.ready = signals_ready;
    if (run.signals.fd < 0 || tern_loop_watch(&run.signals, EPOLLIN) < 0)
        return tern_error(TERN_ERR_OTHER, "signalfd: %s", strerror(errno));
    return 0;
}

/* Nothing of the job is left; what we still do can be interrupted like any program. */
static void release_signals(void)
{
    sigset_t none;
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
        signal(forwarded[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- output and time ---- */

static pid_t process_of(int rank)
{
    return run.ranks[rank].pid;
}

static void stream_closed(int rank)
{
    (void)rank;
    check_end();
}

/* Nobody reads our output any more (mpirun ... | head): like any program in a pipe we end, and so
 * does the job. */
static void write_failed(int error_number)
{
    if (error_number == EPIPE) {
        if (!run.status)
            run.status = 128 + SIGPIPE;
    } else {
        fail(1, "cannot write the ranks' output: %s", strerror(error_number));
    }
    end_job();
    check_end();
}

static void time_is_up(struct tern_timer *timer)
{
    (void)timer;
    fail(TIMEOUT_STATUS,
         "the job has run for %d seconds, as long as --timeout allows, and was ended",
         run.job->options->timeout_s);
    end_job();
}

/* ---- the beginning ---- */

static void server_ready(struct tern_watch *watch, uint32_t events)
{
    (void)watch;
    (void)events;
    tern_server_dispatch();
}

static int make_token(void)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return tern_error(TERN_ERR_OTHER, "getrandom: %s", strerror(errno));
    for (int i = 0; i < 16; i++)
        snprintf(run.token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

/* Two descriptors for each rank's output and one for its PMIx connection: take all that the system
 * lets us have; the ranks get back what we were given. Checked here, because PMIx's server only
 * stops accepting when there are none left. */
static int raise_descriptor_limit(void)
{
    enum { OWN = 24, PER_RANK = 3 };
    getrlimit(RLIMIT_NOFILE, &run.guardian_start.descriptor_limit);
    struct rlimit raised = run.guardian_start.descriptor_limit;
    raised.rlim_cur = raised.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
    run.guardian_start.node_memory_fd = run.guardian_start.descriptor_limit.rlim_cur > 64 ? 64 : 3;
    rlim_t needed = OWN + (rlim_t)PER_RANK * run.job->map->size;
    return raised.rlim_cur < needed
               ? tern_error(TERN_ERR_OTHER,
                            "%d ranks need %llu open files in mpirun, and the limit is %llu; raise "
                            "it (ulimit -n)",
                            run.job->map->size, (unsigned long long)needed,
                            (unsigned long long)raised.rlim_cur)
               : 0;
}

static int start_server(void)
{
    static struct tern_server_job job;
    static const struct tern_server_listener listener = { rank_connected, rank_started_world,
                                                          rank_finalized, rank_lost,
                                                          rank_aborted,   rank_signalled };
    static char secret[2 * TERN_SECRET_BYTES + 1];
    char *nspace = tern_must_format("tern-%.16s", run.token);
    unsigned char bytes[TERN_SECRET_BYTES];
    int error = tern_random(bytes, sizeof bytes);
    if (error)
        return error;
    tern_secret_write(bytes, secret);
    job = (struct tern_server_job){ .nspace = nspace,
                                    .secret = secret,
                                    .session_dir = run.session_dir,
                                    .host = run.job->host,
                                    .topology = run.job->topology,
                                    .map = run.job->map,
                                    .options = run.job->options,
                                    .wdirs = run.job->wdirs };
    error = tern_server_start(&job, &listener);
    if (error)
        return error;
    run.server = (struct tern_watch){ .fd = tern_server_fd(), .ready = server_ready };
    return tern_loop_watch(&run.server, EPOLLIN) < 0
               ? tern_error(TERN_ERR_OTHER, "epoll_ctl: %s", strerror(errno))
               : 0;
}

static int start_ranks(void)
{
    int memory_fd;
    uint64_t memory_size;
    int error = tern_node_memory_create(run.job->map->size, run.token, &memory_fd, &memory_size);
    if (error)
        return error;
    char *memory = tern_must_format("%d:%llu:%s", run.guardian_start.node_memory_fd,
                                    (unsigned long long)memory_size, run.token);
    /* stays open: for ranks that lose their descriptor on the way */
    char *path = tern_must_format("/proc/%d/fd/%d", (int)getpid(), memory_fd);
    struct tern_spawn spawn = { .options = run.job->options,
                                .map = run.job->map,
                                .paths = run.job->paths,
                                .wdirs = run.job->wdirs,
                                .session_dir = run.session_dir,
                                .node_memory = memory,
                                .node_memory_path = path,
                                .node_memory_fd = memory_fd,
                                .guardian_fd = run.guardian.fd };
    error = tern_spawn_ranks(&spawn);
    free(memory);
    free(path);
    return error;
}

static int start(void)
{
    static const struct tern_output_listener listener = { process_of, stream_closed, write_failed };
    struct sigaction hangup;
    sigaction(SIGHUP, NULL, &hangup);
    run.guardian_start.hangup_ignored = hangup.sa_handler == SIG_IGN;
    run.guardian_start.token = run.token;
    run.stage_timer.expired = stage_timer_expired;
    run.time_limit.expired = time_is_up;
    run.lost_timer.expired = lost_timer_expired;
    sigemptyset(&run.passed_on);
    int error = raise_descriptor_limit();
    if (!error)
        error = make_token();
    if (!error)
        error = tern_loop_open();
    if (!error)
        error = start_guardian();
    if (error)
        return error;
    error = catch_signals();
    tern_environment_clean();
    if (!error)
        error = tern_output_open(run.job->options, run.job->map->size, &listener);
    if (!error)
        error = start_server();
    if (!error)
        error = start_ranks();
    if (error)
        return error;
    tern_input_start();
    if (run.job->options->timeout_s)
        tern_loop_set_timer(&run.time_limit, (int64_t)run.job->options->timeout_s * 1000);
    return 0;
}

int tern_job_run(const struct tern_job *job)
{
    run.job = job;
    run.running = job->map->size;
    run.ranks = tern_must_alloc(job->map->size * sizeof *run.ranks);
    int error = start();
    if (error) {
        fail(1, "%s", tern_error_text(error));
        if (!run.guardian_pid || !run.guardian.ready) {
            tern_log("%s", run.failure);
            return run.status;
        }
        kill_all();
    }
    tern_loop_run();
    if (run.failure)
        tern_output_say("%s", run.failure);
    if (run.guardian_pid) {
        /* PMIx's server is not finalized: all it has outside this process lies in the directory
         * that the guardian removes. */
        tell_guardian(TERN_GUARDIAN_CLEAN, 0, 0);
        waitpid(run.guardian_pid, NULL, 0);
    }
    release_signals();
    tern_output_finish();
    return run.status;
}
