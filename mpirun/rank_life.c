/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank fails in these cases: a signal kills it; its exit code is not 0; it calls MPI_Abort; it
 * ends after MPI_Init and before MPI_Finalize; it ends without the MPI_Init in which others wait
 * (in sessions no rank waits). A rank may be a script that goes on after its MPI program has died:
 * the server sees the connection end, and the job ends as if the rank had ended. */
#include "mpirun/rank_life.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/util/net/launcher.h"
#include "lib/util/base/text.h"
#include "mpirun/base/loop.h"
#include "mpirun/failure.h"
#include "mpirun/jobs/job_ties.h"
#include "mpirun/jobs/rank_asks.h"
#include "mpirun/jobs/spawned.h"
#include "mpirun/ranks/local.h"
#include "mpirun/ranks/output.h"
#include "mpirun/run.h"
#include "mpirun/serve/elf.h"

/* to wait for the end of the rank itself, which tells more than the lost connection; a script that
 * has run the program can save what it left */
enum { LOST_GRACE_MS = 1000 };

struct rank {
    pid_t pid;
    bool ended, connected, finalized, lost;
    enum tern_joined joined; /* to another job */
    char *ties;              /* the names of these jobs, as tern_ties_note keeps them */
    bool world; /* connected by MPI_Init, not only by sessions */
    int streams; /* number of its output streams that some process still holds open */
    bool unseen; /* its process has ended with code 0, and no program of it has been in MPI */
    bool alone;  /* it has left no process behind */
    bool other_library; /* has connected, and has loaded another MPI library */
    bool crashed;       /* has said where it crashes */
};

static struct {
    const struct tern_job *job;
    struct rank *ranks;
    bool other_library; /* of any rank */
    int running;        /* number of ranks that have not ended */
    int worlds;         /* number of ranks between MPI_Init and MPI_Finalize */
    int skipped_init;   /* a rank that is over with 0 and without MPI_Init, or -1 */
    int joined;         /* number of ranks that are connected to other jobs ... */
    int parting;        /* ... and that disconnect from them, and wait for them */
    struct tern_timer lost_timer;
} life = { .skipped_init = -1 };

static const char *host_name(int rank)
{
    return life.job->hosts[life.job->map->places[rank].host].name;
}

static const char *whose(int rank)
{
    static char text[400];
    snprintf(text, sizeof text, "rank %d (pid %d on host %s)", rank, (int)life.ranks[rank].pid,
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

/* Returns the path of the rank's program. Other hosts have found theirs by themselves, so for their
 * ranks this is the name on the command line. */
static const char *path_of(int rank)
{
    const struct tern_rank_place *place = &life.job->map->places[rank];
    return place->host == life.job->here ? life.job->paths[place->app]
                                        : life.job->options->apps[place->app].argv.items[0];
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
    const struct rank *state = &life.ranks[rank];
    return state->finalized                             ? ", after it had left MPI"
           : !state->connected && is_mpi_program(rank) ? ", before it called MPI_Init"
                                                        : "";
}

static void fail_by_signal(int rank, int wait_status)
{
    int number = WTERMSIG(wait_status);
    bool passed_on = tern_failure_has_signal(number);
    if (!tern_failure_blame_signal(number))
        tern_failure_record(128 + number, "%s was killed by signal %d (%s)%s%s%s", whose(rank),
                            number, strsignal(number),
                            WCOREDUMP(wait_status) ? ", core dumped" : "",
                            passed_on ? ", which mpirun received and passed on to the ranks" : "",
                            time_of_end(rank));
    if (number == SIGSEGV && life.ranks[rank].connected && !life.ranks[rank].finalized &&
        !life.ranks[rank].crashed && !life.job->options->quiet)
        tern_output_say("if nothing above says where: the stack of a thread may be full, and then "
                        "no handler runs; raise OMP_STACKSIZE, or what pthread_attr_setstacksize "
                        "sets; or the program has a handler of its own");
}

/* Returns the function that a connected rank should have called. */
static const char *missing_end(const struct rank *state)
{
    return state->world ? "MPI_Finalize" : "MPI_Finalize or MPI_Session_finalize";
}

/* A rank has ended without that call. Returns true, and records the signal, if the rank's program
 * had got one that asks it to end: a handler of its own, or a wrapper such as script(1), has ended
 * it then. */
static bool was_asked_to_end(void)
{
    return tern_failure_blame_signal(tern_run_ending_signal());
}

static void fail_without_init(int rank)
{
    tern_failure_record(
        1, "%s exited without calling MPI_Init, but other ranks wait for it in MPI_Init",
        whose(rank));
}

char *tern_life_name_running(void)
{
    enum { NAMED_MOST = 4 };
    char *text = tern_must_copy("");
    int named = 0;
    for (int rank = 0; rank < life.job->map->size && named < NAMED_MOST; rank++) {
        if (life.ranks[rank].ended)
            continue;
        char *longer = tern_must_format("%s%s%s", text, named ? ", " : "", whose(rank));
        free(text);
        text = longer;
        named++;
    }
    if (life.running <= named)
        return text;
    char *all = tern_must_format("%s and %d more", text, life.running - named);
    free(text);
    return all;
}

/* Judges a rank whose process has ended outside MPI. A process that it has left behind, or one that
 * holds its output open, may be its program: some wrappers, such as setsid, end before what they
 * have started. */
static void judge_unseen(int rank)
{
    const struct rank *state = &life.ranks[rank];
    if (!state->unseen || !state->alone || state->streams || !tern_run_goes_on())
        return;
    if (life.worlds)
        fail_without_init(rank);
    else
        life.skipped_init = rank;
}

void tern_life_ended(int rank, int wait_status)
{
    struct rank *state = &life.ranks[rank];
    if (state->ended)
        return;
    state->ended = true;
    life.running--;
    bool ending = !tern_run_goes_on();
    bool unfinished = state->connected && !state->finalized;
    if (ending) {
        ; /* mpirun ended it */
    } else if (WIFSIGNALED(wait_status)) {
        fail_by_signal(rank, wait_status);
    } else if (WEXITSTATUS(wait_status)) {
        tern_failure_record(WEXITSTATUS(wait_status), "%s exited with code %d%s%s", whose(rank),
                            WEXITSTATUS(wait_status), unfinished ? " without calling " : "",
                            unfinished ? missing_end(state) : "");
    } else if (unfinished) {
        if (!was_asked_to_end())
            tern_failure_record(1, "%s exited with code 0 without calling %s", whose(rank),
                                missing_end(state));
    } else if (!state->connected) {
        state->unseen = true;
        judge_unseen(rank);
    }
    bool harmless = life.job->options->keep_going && WIFEXITED(wait_status) && !unfinished;
    if (tern_failure_is_recorded() && !harmless && life.running)
        tern_run_end();
    tern_run_check_end();
}

/* Judges a rank again, and ends the job if that is a failure. */
static void judge_again(int rank)
{
    bool failed = tern_failure_is_recorded();
    judge_unseen(rank);
    if (!failed && tern_failure_is_recorded() && life.running)
        tern_run_end();
}

void tern_life_alone(int rank)
{
    life.ranks[rank].alone = true;
    judge_again(rank);
}

void tern_life_stream_closed(int rank)
{
    life.ranks[rank].streams -= life.ranks[rank].streams > 0;
    judge_again(rank);
}

static void rank_connected(int rank)
{
    struct rank *state = &life.ranks[rank];
    state->unseen = false;
    state->connected = true;
    state->finalized = state->lost = false;
}

/* Ends a job in which one rank is in this library's MPI_Init and another one in that of another
 * library: neither would ever hear of the other. */
static void check_libraries(void)
{
    int ours = -1, other = -1;
    for (int rank = 0; rank < life.job->map->size; rank++) {
        const struct rank *state = &life.ranks[rank];
        if (state->world)
            ours = ours < 0 ? rank : ours;
        else if (state->other_library)
            other = other < 0 ? rank : other;
    }
    if (ours < 0 || other < 0 || !tern_run_goes_on())
        return;
    char *one = tern_must_copy(whose(ours));
    tern_failure_record(1,
                        "%s and %s have loaded different MPI libraries, so they cannot exchange "
                        "messages; the warning before names both and the cure (--quiet hides it)",
                        one, whose(other));
    free(one);
    tern_run_end();
}

static void rank_started_world(int rank)
{
    struct rank *state = &life.ranks[rank];
    if (!state->world)
        life.worlds++;
    state->world = true;
    if (life.other_library)
        check_libraries();
    if (life.skipped_init >= 0 && tern_run_goes_on()) {
        fail_without_init(life.skipped_init);
        tern_run_end();
    }
}

static void rank_finalized(int rank)
{
    struct rank *state = &life.ranks[rank];
    if (state->world)
        life.worlds--;
    state->world = false;
    state->finalized = true;
}

static void rank_lost(int rank)
{
    struct rank *state = &life.ranks[rank];
    if (!state->connected || state->finalized)
        return;
    state->lost = true;
    tern_local_rouse(); /* it knows more, if it runs */
    tern_loop_set_timer(&life.lost_timer, LOST_GRACE_MS);
}

static void lost_timer_expired(struct tern_timer *timer)
{
    (void)timer;
    for (int rank = 0; rank < life.job->map->size && tern_run_goes_on(); rank++) {
        if (!life.ranks[rank].lost || life.ranks[rank].ended)
            continue;
        if (!was_asked_to_end())
            tern_failure_record(1, "the MPI program of %s ended without calling %s", whose(rank),
                                missing_end(&life.ranks[rank]));
        tern_run_end();
    }
}

static void rank_aborted(int rank, int status, const char *message)
{
    int exit_status = status & 0xff;
    bool has_words = message && *message && strcmp(message, "N/A");
    const char *said = has_words ? one_line(message) : NULL;
    if (tern_run_goes_on())
        tern_failure_record(exit_status ? exit_status : 1, "%s called MPI_Abort with code %d%s%s",
                            whose(rank), status, said ? ": " : "", said ? said : "");
    tern_run_end();
}

static void rank_joined(int rank, enum tern_joined how, const char *jobs)
{
    struct rank *state = &life.ranks[rank];
    int before = life.joined;
    bool changed = tern_ties_note(&state->ties, jobs);
    life.joined += (how == TERN_JOINED) - (state->joined == TERN_JOINED);
    life.parting += (how == TERN_PARTING) - (state->joined == TERN_PARTING);
    state->joined = how;
    if (changed || !before != !life.joined)
        tern_spawned_joined(life.joined > 0);
}

static void rank_asked(int rank, bool last, const char *part)
{
    tern_asked_part(rank, life.job->map->size, part, last);
}

static void rank_signalled(int rank, int number)
{
    tern_run_tell_guardian(TERN_GUARDIAN_SIGNAL, rank, number);
}

static void show_remark(int rank, int remark, const char *text)
{
    static bool said[TERN_REMARKS];
    bool advice = remark == TERN_REMARK_LIBRARY;
    if (remark < 0 || remark >= TERN_REMARKS || said[remark] ||
        (advice && life.job->options->quiet))
        return;
    said[remark] = true;
    tern_output_say("rank %d on host %s: %s", rank, host_name(rank), one_line(text));
}

static void rank_remarked(int rank, int remark, const char *text)
{
    if (remark == TERN_REMARK_LIBRARY && tern_run_goes_on() && tern_spawned_is_awaited()) {
        tern_failure_record(1, "rank %d on host %s: %s", rank, host_name(rank), one_line(text));
        tern_run_end(); /* it will never connect to its parents, who wait for it */
        return;
    }
    show_remark(rank, remark, text);
    if (remark == TERN_REMARK_LIBRARY && life.ranks[rank].connected) {
        life.other_library = life.ranks[rank].other_library = true;
        check_libraries();
    }
}

/* Shows where a rank has crashed. Others often crash at the same place: the calls are shown of the
 * first one only, and of the next ones the head and the innermost call. */
static void rank_crashed(int rank, int number, const char *text)
{
    enum { SHOWN_MOST = 8 };
    static int crashes;
    life.ranks[rank].crashed = true;
    const char *calls = strchr(text, '\n'), *more = calls ? strchr(calls + 1, '\n') : NULL;
    int length = (int)(crashes && more ? more - text : (ptrdiff_t)strlen(text));
    (void)number;
    if (tern_run_goes_on() && crashes++ < SHOWN_MOST)
        tern_output_say("%s: %.*s", whose(rank), length, text);
}

void tern_life_not_started(const struct tern_guardian_message *answer)
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
    tern_failure_record(answer->step == TERN_STEP_EXEC ? 126 : 1,
                        "cannot start rank %d on host %s: %s (%s) failed: %s%s", answer->rank,
                        host_name(answer->rank), steps[answer->step], path_of(answer->rank),
                        strerror(answer->value), cause);
    life.ranks[answer->rank].ended = true;
    life.running--;
    tern_run_end();
    tern_run_check_end();
}

void tern_life_forget(int host)
{
    for (int rank = 0; rank < life.job->map->size; rank++) {
        if (life.job->map->places[rank].host != host || life.ranks[rank].ended)
            continue;
        life.ranks[rank].ended = true;
        life.running--;
    }
}

void tern_life_started(int rank, pid_t pid)
{
    if (life.ranks[rank].ended) { /* another process is the rank now */
        life.ranks[rank].ended = false;
        life.running++;
        tern_run_resume();
    }
    life.ranks[rank].pid = pid;
    if (life.job->options->verbose)
        tern_output_say("rank %d is process %d on host %s", rank, (int)pid, host_name(rank));
}

pid_t tern_life_process(int rank)
{
    return life.ranks[rank].pid;
}

enum tern_rank_state tern_life_state(int at)
{
    const struct rank *rank = &life.ranks[at];
    return rank->ended       ? TERN_RANK_ENDED
           : rank->finalized ? TERN_RANK_FINALIZED
           : rank->connected ? TERN_RANK_IN_MPI
           : rank->pid       ? TERN_RANK_WITHOUT_MPI
                             : TERN_RANK_NOT_STARTED;
}

const struct tern_client_listener tern_life_clients = {
    rank_connected,  rank_started_world, rank_finalized, rank_lost,   rank_aborted,
    rank_signalled, rank_remarked,      rank_crashed,   rank_joined, rank_asked,
};

void tern_life_open(const struct tern_job *job)
{
    life.job = job;
    life.running = job->map->size;
    life.ranks = tern_must_alloc(job->map->size * sizeof *life.ranks);
    life.lost_timer.expired = lost_timer_expired;
    for (int rank = 0; rank < job->map->size; rank++)
        life.ranks[rank].streams = job->options->merge_stderr ? 1 : 2;
}

int tern_life_running(void)
{
    return life.running;
}

bool tern_life_is_joined(void)
{
    return life.joined || life.parting;
}
