/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a job:
 *
 *   RUNNING   ranks run; mpirun serves their output, input, signals and PMIx requests
 *   ENDING    a rank has failed, or time is up: all ranks got SIGTERM, SIGKILL follows
 *   CLEARING  all ranks have ended: the guardians kill what they left behind
 *   DRAINING  mpirun reads what is still in pipes and pseudo-terminals
 *
 * The first failure decides the message and the exit status; what happens to other ranks afterwards
 * is a consequence of it. A rank fails in these cases: a signal kills it; its exit code is not 0;
 * it calls MPI_Abort; it ends after MPI_Init and before MPI_Finalize; it ends without the MPI_Init
 * in which others wait (in sessions no rank waits). A rank may be a script that goes on after its
 * MPI program has died: the server sees the connection end, and the job ends as if the rank had
 * ended.
 *
 * Everything is decided here, for all hosts. Agents report what happens on other hosts with the
 * same messages of guardian and server, and the same functions handle them. */
#include "mpirun/run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/util/error.h"
#include "lib/util/launcher.h"
#include "lib/util/log.h"
#include "lib/util/param.h"
#include "lib/util/text.h"
#include "mpirun/base/loop.h"
#include "mpirun/jobs/job_ties.h"
#include "mpirun/jobs/rank_asks.h"
#include "mpirun/jobs/children.h"
#include "mpirun/ranks/input.h"
#include "mpirun/ranks/local.h"
#include "mpirun/ranks/output.h"
#include "mpirun/serve/elf.h"
#include "mpirun/serve/rank_states.h"
#include "mpirun/serve/server_exchange.h"
#include "mpirun/tree/agents.h"

enum {
    LEFTOVER_GRACE_MS = 200,
    DRAIN_GRACE_MS = 500,
    /* to wait for the end of the rank itself, which tells more than the lost connection */
    LOST_GRACE_MS = 100,
    /* to wait for hosts to report that nothing is left; longer than their guardians take */
    KILL_GRACE_MS =
        4000,
    TIMEOUT_STATUS = 110
};

enum stage { RUNNING, ENDING, CLEARING, DRAINING };

struct rank {
    pid_t pid;
    bool ended, connected, finalized, lost;
    enum tern_joined joined; /* to another job */
    char *ties;              /* the names of these jobs, as tern_ties_note keeps them */
    bool world; /* connected by MPI_Init, not only by sessions */
    bool other_library; /* has connected, and has loaded another MPI library */
    bool crashed;       /* has said where it crashes */
};

struct host {
    bool gone;   /* nothing of the job is left there, or the host cannot be reached */
    bool lost;   /* its agent is lost */
    int streams; /* open output streams of its ranks; output.c counts those of this machine */
};

static struct {
    const struct tern_job *job;
    enum stage stage;
    struct rank *ranks;
    bool other_library; /* of any rank */
    struct host *hosts;
    struct host here; /* mpirun's own host, if it has no ranks */
    int running;      /* number of ranks that have not ended */
    int worlds;       /* number of ranks between MPI_Init and MPI_Finalize */
    int skipped_init; /* a rank that exited with 0 and without MPI_Init, or -1 */
    int status;       /* exit status, once something has failed; 0 before */
    bool output_lost; /* the job goes on, but its exit status is not 0 */
    char *failure;    /* message of the first failure, or NULL */
    int interrupts;
    int joined;       /* number of ranks that are connected to other jobs ... */
    int parting;      /* ... and that disconnect from them, and wait for them */
    bool done;        /* nothing is left to do but to wait for the jobs that ranks have started */
    sigset_t passed_on; /* signals that users sent and mpirun passed on */
    struct tern_timer stage_timer, time_limit, lost_timer;
} run = { .skipped_init = -1 };

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

void tern_run_kill(void)
{
    if (run.stage >= CLEARING)
        return;
    run.stage = CLEARING;
    tern_loop_stop_timer(&run.stage_timer);
    if (run.status)
        tern_children_end();
    tell_guardian(TERN_GUARDIAN_KILL, -1, 0);
    if (run.job->host_count > 1)
        tern_loop_set_timer(&run.stage_timer, KILL_GRACE_MS);
}

static void end_job(void)
{
    if (run.stage != RUNNING)
        return;
    run.stage = ENDING;
    tern_children_end();
    tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGTERM);
    tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGCONT);
    int64_t grace_ms = tern_param_int("end_grace_ms");
    tern_loop_set_timer(&run.stage_timer, grace_ms > 0 ? grace_ms : 1);
}

/* Ends the loop when the jobs that ranks have started have ended, too. */
static void stop(void)
{
    run.done = true;
    if (tern_children_count() == 0)
        tern_loop_stop();
}

static void stage_timer_expired(struct tern_timer *timer)
{
    (void)timer;
    if (run.stage >= CLEARING)
        stop();
    else
        tern_run_kill();
}

/* Goes on to the next stage if this one is over. Background processes of ranks may still write:
 * they get LEFTOVER_GRACE_MS. */
static void check_end(void)
{
    if (run.running == 0 && run.stage < CLEARING) {
        if (open_streams() == 0)
            tern_run_kill();
        else if (run.stage == RUNNING && !run.stage_timer.due_ms)
            tern_loop_set_timer(&run.stage_timer, LEFTOVER_GRACE_MS);
    } else if (run.stage == DRAINING && open_streams() == 0) {
        stop();
    }
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

static const char *host_name(int rank)
{
    return run.job->hosts[run.job->map->places[rank].host].name;
}

static const char *whose(int rank)
{
    static char text[400];
    snprintf(text, sizeof text, "rank %d (pid %d on host %s)", rank, (int)run.ranks[rank].pid,
             host_name(rank));
    return text;
}

/* Returns a rank's text as a single line, so that no part of it looks like a line of mpirun's.
 * Valid until the next call. */
static const char *one_line(const char *words)
{
    static char text[1200];
    tern_text_make_printable(words, false, text, sizeof text);
    return text;
}

/* ---- what happens to ranks ---- */

/* Returns the path of the rank's program. Other hosts have found theirs by themselves, so for their
 * ranks this is the name on the command line. */
static const char *path_of(int rank)
{
    const struct tern_rank_place *place = &run.job->map->places[rank];
    return place->host == run.job->here ? run.job->paths[place->app]
                                        : run.job->options->apps[place->app].argv.items[0];
}

/* Returns true if a rank's program is linked with an MPI library, as far as this host can see. */
static bool is_mpi_program(int rank)
{
    struct tern_elf elf;
    bool linked = false;
    if (!tern_elf_read(path_of(rank), &elf))
        return false;
    for (int i = 0; i < elf.needed.count; i++)
        linked |= strncmp(elf.needed.items[i], "libmpi", strlen("libmpi")) == 0;
    tern_elf_free(&elf);
    return linked;
}

/* Says when a rank outside MPI has ended, or returns "". */
static const char *time_of_end(int rank)
{
    const struct rank *state = &run.ranks[rank];
    return state->finalized                             ? ", after it had left MPI"
           : !state->connected && is_mpi_program(rank) ? ", before it called MPI_Init"
                                                        : "";
}

static void fail_by_signal(int rank, int wait_status)
{
    int number = WTERMSIG(wait_status);
    bool passed_on = sigismember(&run.passed_on, number) == 1;
    if (passed_on && (number == SIGINT || number == SIGTERM || number == SIGHUP))
        tern_run_fail(128 + number,
                      "mpirun received signal %d (%s), passed it on to the ranks, and ended the "
                      "job",
                      number, strsignal(number));
    else
        tern_run_fail(128 + number, "%s was killed by signal %d (%s)%s%s%s", whose(rank), number,
                      strsignal(number), WCOREDUMP(wait_status) ? ", core dumped" : "",
                      passed_on ? ", which mpirun received and passed on to the ranks" : "",
                      time_of_end(rank));
    if (number == SIGSEGV && run.ranks[rank].connected && !run.ranks[rank].finalized &&
        !run.ranks[rank].crashed && !run.job->options->quiet)
        tern_output_say("if nothing above says where: the stack of a thread may be full, and then "
                        "no handler runs; raise OMP_STACKSIZE, or what pthread_attr_setstacksize "
                        "sets");
}

/* Returns the function that a connected rank should have called. */
static const char *missing_end(const struct rank *state)
{
    return state->world ? "MPI_Finalize" : "MPI_Finalize or MPI_Session_finalize";
}

static void rank_ended(int rank, int wait_status)
{
    struct rank *state = &run.ranks[rank];
    if (state->ended)
        return;
    state->ended = true;
    run.running--;
    bool ending = run.stage != RUNNING;
    bool unfinished = state->connected && !state->finalized;
    if (ending) {
        ; /* mpirun ended it */
    } else if (WIFSIGNALED(wait_status)) {
        fail_by_signal(rank, wait_status);
    } else if (WEXITSTATUS(wait_status)) {
        tern_run_fail(WEXITSTATUS(wait_status), "%s exited with code %d%s%s", whose(rank),
             WEXITSTATUS(wait_status), unfinished ? " without calling " : "",
             unfinished ? missing_end(state) : "");
    } else if (unfinished) {
        tern_run_fail(1, "%s exited with code 0 without calling %s", whose(rank),
                      missing_end(state));
    } else if (!state->connected && run.worlds) {
        tern_run_fail(1, "%s exited without calling MPI_Init, but other ranks wait for it in "
                         "MPI_Init",
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

/* Ends a job in which one rank is in this library's MPI_Init and another one in that of another
 * library: neither would ever hear of the other. */
static void check_libraries(void)
{
    int ours = -1, other = -1;
    for (int rank = 0; rank < run.job->map->size; rank++) {
        const struct rank *state = &run.ranks[rank];
        if (state->world)
            ours = ours < 0 ? rank : ours;
        else if (state->other_library)
            other = other < 0 ? rank : other;
    }
    if (ours < 0 || other < 0 || run.stage != RUNNING)
        return;
    char *one = tern_must_copy(whose(ours));
    tern_run_fail(1, "%s and %s have loaded different MPI libraries, so they cannot exchange "
                     "messages; the warning before names both and the cure (--quiet hides it)",
                  one, whose(other));
    free(one);
    end_job();
}

static void rank_started_world(int rank)
{
    struct rank *state = &run.ranks[rank];
    if (!state->world)
        run.worlds++;
    state->world = true;
    if (run.other_library)
        check_libraries();
    if (run.skipped_init >= 0 && run.stage == RUNNING) {
        tern_run_fail(1, "%s exited without calling MPI_Init, but other ranks wait for it in "
                         "MPI_Init",
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
    tern_local_rouse(); /* it knows more, if it runs */
    tern_loop_set_timer(&run.lost_timer, LOST_GRACE_MS);
}

static void lost_timer_expired(struct tern_timer *timer)
{
    (void)timer;
    for (int rank = 0; rank < run.job->map->size && run.stage == RUNNING; rank++) {
        if (!run.ranks[rank].lost || run.ranks[rank].ended)
            continue;
        tern_run_fail(1, "the MPI program of %s ended without calling %s", whose(rank),
             missing_end(&run.ranks[rank]));
        end_job();
    }
}

static void rank_aborted(int rank, int status, const char *message)
{
    int exit_status = status & 0xff;
    bool has_words = message && *message && strcmp(message, "N/A");
    const char *said = has_words ? one_line(message) : NULL;
    if (run.stage == RUNNING)
        tern_run_fail(exit_status ? exit_status : 1, "%s called MPI_Abort with code %d%s%s",
                      whose(rank), status, said ? ": " : "", said ? said : "");
    end_job();
}

static void rank_joined(int rank, enum tern_joined how, const char *jobs)
{
    struct rank *state = &run.ranks[rank];
    int before = run.joined;
    bool changed = tern_ties_note(&state->ties, jobs);
    run.joined += (how == TERN_JOINED) - (state->joined == TERN_JOINED);
    run.parting += (how == TERN_PARTING) - (state->joined == TERN_PARTING);
    state->joined = how;
    if (changed || !before != !run.joined)
        tern_spawned_joined(run.joined > 0);
}

static void rank_asked(int rank, bool last, const char *part)
{
    tern_asked_part(rank, run.job->map->size, part, last);
}

static void rank_signalled(int rank, int number)
{
    tell_guardian(TERN_GUARDIAN_SIGNAL, rank, number);
}

static void show_remark(int rank, int remark, const char *text)
{
    static bool said[TERN_REMARKS];
    bool advice = remark == TERN_REMARK_LIBRARY;
    if (remark < 0 || remark >= TERN_REMARKS || said[remark] || (advice && run.job->options->quiet))
        return;
    said[remark] = true;
    tern_output_say("rank %d on host %s: %s", rank, host_name(rank), one_line(text));
}

static void rank_remarked(int rank, int remark, const char *text)
{
    if (remark == TERN_REMARK_LIBRARY && run.stage == RUNNING && tern_spawned_is_awaited()) {
        tern_run_fail(1, "rank %d on host %s: %s", rank, host_name(rank), one_line(text));
        end_job(); /* it will never connect to its parents, who wait for it */
        return;
    }
    show_remark(rank, remark, text);
    if (remark == TERN_REMARK_LIBRARY && run.ranks[rank].connected) {
        run.other_library = run.ranks[rank].other_library = true;
        check_libraries();
    }
}

/* Shows where a rank has crashed. Others often crash at the same place: the calls are shown of the
 * first one only, and of the next ones the head and the innermost call. */
static void rank_crashed(int rank, int number, const char *text)
{
    enum { SHOWN_MOST = 8 };
    static int crashes;
    run.ranks[rank].crashed = true;
    const char *calls = strchr(text, '\n'), *more = calls ? strchr(calls + 1, '\n') : NULL;
    int length = (int)(crashes && more ? more - text : (ptrdiff_t)strlen(text));
    (void)number;
    if (run.stage == RUNNING && crashes++ < SHOWN_MOST)
        tern_output_say("%s: %.*s", whose(rank), length, text);
}

static void rank_not_started(const struct tern_guardian_message *answer)
{
    static const char *const steps[] = {
        [TERN_STEP_FORK] = "fork",
        [TERN_STEP_GROUP] = "making a process group of its own",
        [TERN_STEP_DESCRIPTORS] = "setting up its descriptors",
        [TERN_STEP_WDIR] = "changing to its working directory",
        [TERN_STEP_EXEC] = "executing the program",
    };
    const char *cause = "";
    if (answer->step == TERN_STEP_EXEC && answer->value == ENOEXEC)
        cause = tern_elf_is_foreign(path_of(answer->rank))
                    ? " (it was built for another kind of processor)"
                    : " (a script needs a first line such as #!/bin/sh)";
    tern_run_fail(answer->step == TERN_STEP_EXEC ? 126 : 1,
         "cannot start rank %d on host %s: %s (%s) failed: %s%s", answer->rank,
         host_name(answer->rank), steps[answer->step], path_of(answer->rank),
         strerror(answer->value), cause);
    run.ranks[answer->rank].ended = true;
    run.running--;
    end_job();
    check_end();
}

/* ---- guardians and hosts ---- */

static bool all_gone(void)
{
    bool gone = run.here.gone;
    for (int host = 0; host < run.job->host_count; host++)
        gone &= run.hosts[host].gone;
    return gone;
}

static void host_cleared(int host)
{
    host_at(host)->gone = true;
    host_at(host)->streams = 0;
    if (all_gone() && run.stage != DRAINING) {
        run.stage = DRAINING;
        tern_loop_set_timer(&run.stage_timer, DRAIN_GRACE_MS);
    }
    check_end();
}

/* Counts the ranks of a lost host as ended: nothing more will be heard of them. */
static void forget_ranks(int host)
{
    for (int rank = 0; rank < run.job->map->size; rank++) {
        if (run.job->map->places[rank].host != host || run.ranks[rank].ended)
            continue;
        run.ranks[rank].ended = true;
        run.running--;
    }
    host_at(host)->streams = 0;
}

static void guardian_lost(int host, int pid)
{
    if (!host_at(host)->gone)
        tern_run_fail(137, "the guardian process of this job (pid %d) was killed; the job ends now",
                      pid);
    forget_ranks(host);
    end_job();
    host_cleared(host);
}

static void handle_answer(int host, const struct tern_guardian_message *answer)
{
    switch (answer->kind) {
    case TERN_GUARDIAN_STARTED:
        run.ranks[answer->rank].pid = answer->pid;
        if (run.job->options->verbose)
            tern_output_say("rank %d is process %d on host %s", answer->rank, answer->pid,
                            host_name(answer->rank));
        break;
    case TERN_GUARDIAN_FAILED:
        rank_not_started(answer);
        break;
    case TERN_GUARDIAN_EXITED:
        rank_ended(answer->rank, answer->value);
        break;
    case TERN_GUARDIAN_LOST:
        guardian_lost(host, answer->pid);
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
    bool of_rank = answer.kind == TERN_GUARDIAN_STARTED || answer.kind == TERN_GUARDIAN_FAILED ||
                   answer.kind == TERN_GUARDIAN_EXITED;
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
    tern_client_tell(&tern_run_clients, frame->value, rank, number, text);
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
        check_end();
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
    forget_ranks(host);
    end_job();
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

static void interrupted(void)
{
    if (++run.interrupts == 1) {
        tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGINT);
        tern_children_signal(SIGINT);
        return;
    }
    tern_children_kill();
    tern_run_fail(128 + SIGINT, "interrupted twice: the job was killed");
    tern_run_kill();
}

void tern_run_signalled(int number)
{
    if (number != SIGQUIT)
        sigaddset(&run.passed_on, number);
    switch (number) {
    case SIGINT:
        interrupted();
        break;
    case SIGTSTP:
        tell_guardian(TERN_GUARDIAN_SIGNAL, -1, SIGTSTP);
        tern_children_signal(SIGTSTP);
        tern_agents_excuse(true);
        raise(SIGSTOP);
        tern_agents_excuse(false);
        break;
    case SIGQUIT:
        tern_where_show();
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
        else if (joined)
            tern_run_fail(status, "%s has failed, and this job is connected to it", what);
        else if (!run.status)
            run.status = status; /* its own mpirun has said why */
        if (joined)
            end_job();
    }
    if (run.done)
        stop();
}

static const struct tern_children_listener children_listener = {child_ended, tern_asked};

/* Ends the job because its parents want it, or have ended. */
static void parents_end(const char *why)
{
    if (run.stage != RUNNING)
        return;
    if (why)
        tern_run_fail(1, "%s", why);
    else if (!run.status)
        run.status = 1;
    end_job();
}

const struct tern_spawned_listener tern_run_parents = {tern_run_signalled, parents_end};

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
    end_job();
    check_end();
}

static enum tern_rank_state state_of(const struct rank *rank)
{
    return rank->ended       ? TERN_RANK_ENDED
           : rank->finalized ? TERN_RANK_FINALIZED
           : rank->connected ? TERN_RANK_IN_MPI
           : rank->pid       ? TERN_RANK_WITHOUT_MPI
                             : TERN_RANK_NOT_STARTED;
}

/* Ends the job. `table` says where its ranks are. */
static void end_in_time(const char *table, void *unused)
{
    (void)unused;
    if (run.stage != RUNNING)
        return;
    tern_run_fail(TIMEOUT_STATUS,
         "the job has run for %d seconds, the limit of --timeout, and was ended%s",
         run.job->options->timeout_s, table);
    end_job();
}

static void time_is_up(struct tern_timer *timer)
{
    (void)timer;
    if (!tern_where_ask(end_in_time, NULL))
        end_in_time("", NULL);
}

static enum tern_rank_state state_of_rank(int rank)
{
    return state_of(&run.ranks[rank]);
}

/* ---- for main.c and job.c ---- */

const struct tern_client_listener tern_run_clients = { rank_connected, rank_started_world,
                                                       rank_finalized, rank_lost,
                                                       rank_aborted,   rank_signalled,
                                                       rank_remarked, rank_crashed,
                                                       rank_joined,   rank_asked };

/* Ranks that wait for another job do not hang. */
static bool is_alone(void)
{
    return tern_run_goes_on() && !run.joined && !run.parting && tern_children_count() == 0;
}

const struct tern_where_listener tern_run_where = {state_of_rank, tern_run_lost, is_alone};

const struct tern_output_listener tern_run_output = {
    .process_of = process_of,
    .closed = stream_closed,
    .file_failed = file_failed,
    .write_failed = write_failed,
    .passed_on = output_passed_on,
};

void tern_run_open(const struct tern_job *job, const struct tern_host *hosts, int host_count)
{
    run.job = job;
    tern_children_open(job, hosts, host_count, &children_listener);
    run.running = job->map->size;
    run.ranks = tern_must_alloc(job->map->size * sizeof *run.ranks);
    run.hosts = tern_must_alloc(job->host_count * sizeof *run.hosts);
    run.here.gone = job->here >= 0;
    run.stage_timer.expired = stage_timer_expired;
    run.time_limit.expired = time_is_up;
    run.lost_timer.expired = lost_timer_expired;
    sigemptyset(&run.passed_on);
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
