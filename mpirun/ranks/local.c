/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/local.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/net/roster.h"
#include "mpirun/base/loop.h"
#include "mpirun/ranks/descendants.h"
#include "mpirun/ranks/node_memfd.h"
#include "mpirun/ranks/output.h"
#include "mpirun/ranks/session_dir.h"
#include "mpirun/ranks/spawn.h"
#include "mpirun/serve/other_library.h"
#include "mpirun/serve/rank_channel.h"
#include "mpirun/serve/pmix/server.h"
#include "mpirun/serve/pmix/server_exchange.h"

enum {
    KILL_TIMEOUT_MS = 2000,
    LOOK_MS = 1000, /* between two looks at the guardian */
};

/* Where a rank of this host stands. */
enum stand {
    RUNS,
    PENDING, /* its process has ended with code 0, but a process that it left may be its program */
    ADOPTED, /* that has connected, and the guardian was told to take it; it has not ended yet */
    OVER     /* no program of the rank will come any more */
};

static struct {
    struct tern_job *job;
    const struct tern_client_listener *listener;
    struct tern_client_listener own; /* the same, but for `connected` */
    enum stand *stands;              /* by rank */
    int adopted;                     /* number of ranks that are ADOPTED */
    struct tern_guardian_message gone; /* kept back until these have ended; its kind is 0: none */
    pid_t guardian_pid;
    struct tern_guardian_start guardian_start;
    tern_local_answered *answered;
    struct tern_watch guardian, server;
    struct tern_timer look;
} local;

void tern_local_order(int kind, int rank, int value)
{
    struct tern_guardian_message message = { .kind = kind, .rank = rank, .value = value };
    if (kind == TERN_GUARDIAN_ADOPT)
        message.line = *tern_reports_latest(rank);
    if (local.guardian_pid)
        tern_guardian_send(local.guardian.fd, &message, NULL, 0);
}

bool tern_local_guarded(void)
{
    return local.guardian_pid && local.guardian.ready;
}

static void guardian_gone(void)
{
    struct tern_guardian_message lost = { .kind = TERN_GUARDIAN_LOST, .pid = local.guardian_pid };
    tern_loop_watch(&local.guardian, 0);
    /* All its descendants are this process's now. */
    tern_descendants_kill(KILL_TIMEOUT_MS, NULL);
    tern_session_remove(local.job->session_dir);
    local.guardian_pid = 0;
    local.answered(&lost);
}

/* ---- the ends of ranks, some of which are only wrappers ---- */

static void set_stand(int rank, enum stand stand)
{
    local.adopted += (stand == ADOPTED) - (local.stands[rank] == ADOPTED);
    local.stands[rank] = stand;
    /* the other ranks of this host then no longer wait for a program of it */
    if (stand == OVER)
        tern_node_memory_end_rank(local.job->node_memory_fd,
                                  local.job->map->places[rank].local_rank);
}

static void adopt(int rank)
{
    set_stand(rank, ADOPTED);
    tern_local_order(TERN_GUARDIAN_ADOPT, rank, 0);
}

/* A program of the rank has connected: takes it for the rank if the rank's process has ended. */
static void connected(int rank)
{
    if (local.stands && local.stands[rank] == PENDING)
        adopt(rank);
    local.listener->connected(rank);
}

/* Takes the end of a rank's process. Returns false if its program is or was another process, so the
 * rank's may have been a wrapper that has ended before what it started: the guardian knows. */
static bool rank_exited(const struct tern_guardian_message *exited)
{
    int rank = exited->rank;
    /* What the rank did before it ended, above all Finalize, may still be in the server's queue. */
    tern_server_dispatch();
    tern_reports_read(rank);
    pid_t program = tern_reports_latest(rank)->pids[0];
    if (exited->value || (exited->pid && program == exited->pid)) {
        set_stand(rank, OVER);
        return true;
    }
    if (exited->pid && program) {
        adopt(rank);
        return false;
    }
    set_stand(rank, PENDING);
    tern_local_order(TERN_GUARDIAN_AWAIT, rank, 0);
    return true;
}

/* Nothing is left of a rank. Returns false if a program of it has connected before it ended. */
static bool rank_alone(int rank)
{
    tern_reports_read(rank);
    if (local.stands[rank] != PENDING)
        return false;
    set_stand(rank, OVER);
    return true;
}

/* Nothing is left of the job. A program that has connected and ended unseen still counts: keeps the
 * message back until the guardian has said how it ended. */
static void job_gone(const struct tern_guardian_message *gone)
{
    for (int rank = 0; local.stands && rank < local.job->map->size; rank++)
        if (local.stands[rank] == PENDING)
            tern_reports_read(rank);
    local.gone = *gone;
}

/* Takes an answer of the guardian. Returns true if it is to be passed on. */
static bool take_answer(const struct tern_guardian_message *answer)
{
    switch (answer->kind) {
    case TERN_GUARDIAN_EXITED:
        return rank_exited(answer);
    case TERN_GUARDIAN_ALONE:
        return rank_alone(answer->rank);
    case TERN_GUARDIAN_GONE:
        job_gone(answer);
        return false;
    default:
        return true;
    }
}

static void guardian_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    struct tern_guardian_message answer;
    int fds[3], fd_count, got;
    while ((got = tern_guardian_receive(watch->fd, &answer, fds, &fd_count)) > 0) {
        if (take_answer(&answer))
            local.answered(&answer);
        /* processes that cannot be killed are not waited for */
        if (local.gone.kind && (!local.adopted || local.gone.value)) {
            answer = local.gone;
            local.gone.kind = 0;
            local.answered(&answer);
        }
    }
    if (got < 0)
        guardian_gone();
}

/* Without the guardian nobody would learn that ranks end, and nobody would end them. Whatever stops
 * the whole job stops this process, too. */
void tern_local_rouse(void)
{
    siginfo_t info = { 0 };
    if (local.guardian_pid &&
        waitid(P_PID, (id_t)local.guardian_pid, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid)
        kill(local.guardian_pid, SIGCONT);
}

static void look(struct tern_timer *timer)
{
    tern_local_rouse();
    tern_loop_set_timer(timer, LOOK_MS);
}

static int start_guardian(void)
{
    tern_descendants_spare_present();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    int error = tern_guardian_fork(&local.guardian_start, &local.guardian_pid, &local.guardian.fd);
    if (error)
        return error;
    struct tern_guardian_message answer;
    int fds[3], fd_count, got;
    while ((got = tern_guardian_receive(local.guardian.fd, &answer, fds, &fd_count)) == 0)
        poll(&(struct pollfd){ local.guardian.fd, POLLIN, 0 }, 1, -1);
    if (got < 0)
        return tern_error(TERN_ERR_OTHER, "the guardian process did not start");
    if (answer.kind != TERN_GUARDIAN_READY)
        return tern_error(TERN_ERR_OTHER, "%s", answer.text);
    snprintf(local.job->session_dir, sizeof local.job->session_dir, "%s", answer.text);
    tern_session_hold(local.job->session_dir);
    local.guardian.ready = guardian_ready;
    if (tern_loop_watch(&local.guardian, EPOLLIN) < 0)
        return tern_error(TERN_ERR_OTHER, "epoll_ctl: %s", strerror(errno));
    local.look.expired = look;
    tern_loop_set_timer(&local.look, LOOK_MS);
    return 0;
}

/* Raises the limit of open files as far as the system allows; ranks get the original limit back.
 * Each rank needs five: two for output, two for reports, one for its PMIx connection. Checked here
 * because PMIx's server would only stop accepting when none is left. Returns 0 or
 * TERN_ERR_OTHER. */
static int raise_descriptor_limit(void)
{
    enum { OWN = 24, PER_RANK = 5, PER_HOST = 3 };
    getrlimit(RLIMIT_NOFILE, &local.guardian_start.descriptor_limit);
    struct rlimit raised = local.guardian_start.descriptor_limit;
    raised.rlim_cur = raised.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
    local.guardian_start.node_memory_fd =
        local.guardian_start.descriptor_limit.rlim_cur > 66 ? 64 : 3;
    local.guardian_start.reports_fd = local.guardian_start.node_memory_fd + 1;
    local.guardian_start.lifeline_fd = local.guardian_start.reports_fd + 1;
    int ranks = tern_job_ranks_on(local.job, local.job->here);
    rlim_t needed = OWN + (rlim_t)PER_RANK * ranks + (rlim_t)PER_HOST * (local.job->host_count - 1);
    return raised.rlim_cur < needed
               ? tern_error(TERN_ERR_OTHER,
                            "%d ranks need %llu open files in mpirun, but the limit is %llu; raise "
                            "it (ulimit -n)",
                            ranks, (unsigned long long)needed, (unsigned long long)raised.rlim_cur)
               : 0;
}

int tern_local_open(struct tern_job *job, bool is_agent, bool hangup_ignored,
                    tern_local_answered *answered)
{
    local.job = job;
    local.answered = answered;
    /* On an agent, the name of the directory contains the host's number, because two hosts may
     * share /tmp. */
    local.guardian_start.token =
        is_agent ? tern_must_format("%s-%d", job->token, job->here) : job->token;
    local.guardian_start.parent = is_agent ? "the agent" : "mpirun";
    local.guardian_start.hangup_ignored = hangup_ignored;
    int error = raise_descriptor_limit();
    return error ? error : start_guardian();
}

static void server_ready(struct tern_watch *watch, uint32_t events)
{
    (void)watch;
    (void)events;
    tern_server_dispatch();
}

int tern_local_serve(struct tern_job *job, const struct tern_client_listener *listener)
{
    local.listener = listener;
    local.own = *listener;
    local.own.connected = connected;
    snprintf(job->nspace, sizeof job->nspace, "tern-%.16s", job->token);
    tern_foreign_open(job, listener);
    int error = tern_server_start(job, &local.own);
    char *words = NULL;
    if (!error && job->here >= 0)
        error = tern_reports_open(job, &local.own, tern_exchange_meet, &job->reports_fd, &words);
    if (words)
        job->reports = tern_must_format("%d:%s:%d", local.guardian_start.reports_fd, words,
                                        (int)local.guardian_pid);
    free(words);
    if (error)
        return error;
    local.server = (struct tern_watch){ .fd = tern_server_fd(), .ready = server_ready };
    return tern_loop_watch(&local.server, EPOLLIN) < 0
               ? tern_error(TERN_ERR_OTHER, "epoll_ctl: %s", strerror(errno))
               : 0;
}

static void *make_roster(const struct tern_job *job, size_t *ret_length)
{
    uint32_t *host_of = tern_must_alloc(job->map->size * sizeof *host_of);
    const char **names = tern_must_alloc(job->host_count * sizeof *names);
    for (int rank = 0; rank < job->map->size; rank++)
        host_of[rank] = (uint32_t)job->map->places[rank].host;
    for (int host = 0; host < job->host_count; host++)
        names[host] = job->hosts[host].name;
    struct tern_roster roster = { .size = (uint32_t)job->map->size,
                                  .host_count = (uint32_t)job->host_count,
                                  .here = (uint32_t)job->here,
                                  .universe_size = (uint32_t)tern_job_universe(job),
                                  .job = job->nspace,
                                  .secret = job->secret,
                                  .host_of = host_of };
    void *bytes = tern_roster_write(&roster, names, ret_length);
    free(host_of);
    free(names);
    return bytes;
}

int tern_local_start_ranks(struct tern_job *job)
{
    uint64_t memory_size;
    size_t length;
    int ranks = tern_job_ranks_on(job, job->here);
    if (!ranks)
        return 0;
    void *roster = make_roster(job, &length);
    if (!roster)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the environment of the ranks");
    int error = tern_node_memory_create(ranks, job->token, roster, length, &job->node_memory_fd,
                                        &memory_size);
    free(roster);
    if (error)
        return error;
    job->node_memory = tern_must_format("%d:%llu:%s", local.guardian_start.node_memory_fd,
                                        (unsigned long long)memory_size, job->token);
    /* stays open for ranks that lose their own descriptor, for instance in a script */
    job->node_memory_path = tern_must_format("/proc/%d/fd/%d", (int)getpid(), job->node_memory_fd);
    local.stands = tern_must_alloc((size_t)job->map->size * sizeof *local.stands);
    error = tern_spawn_ranks(job, local.guardian.fd);
    if (!error)
        tern_foreign_start();
    if (job->reports)
        close(job->reports_fd);
    return error;
}

void tern_local_abandon(int timeout_ms)
{
    enum { STEP_MS = 5 };
    if (!local.guardian_pid)
        return;
    shutdown(local.guardian.fd, SHUT_RDWR);
    for (int waited_ms = 0; waited_ms < timeout_ms; waited_ms += STEP_MS) {
        if (waitpid(local.guardian_pid, NULL, WNOHANG))
            break;
        poll(NULL, 0, STEP_MS);
    }
    local.guardian_pid = 0;
}

void tern_local_close(void)
{
    if (!local.guardian_pid)
        return;
    /* PMIx's server is not finalized: all it has outside this process is in the directory that the
     * guardian removes. */
    tern_local_order(TERN_GUARDIAN_CLEAN, 0, 0);
    int status;
    while (waitpid(local.guardian_pid, &status, WUNTRACED) == local.guardian_pid &&
           WIFSTOPPED(status))
        kill(local.guardian_pid, SIGCONT);
    local.guardian_pid = 0;
}
