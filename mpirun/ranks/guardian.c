/* SPDX-License-Identifier: BSD-3-Clause */
/* Why the guardian is a process of its own:
 * - It is a subreaper, so every orphan of the job becomes its child, even one that called setsid.
 *   After mpirun was killed, it can find and kill them all, and no other process can: orphans of a
 *   dead mpirun would belong to init. mpirun is a subreaper too, and inherits everything if the
 *   guardian is killed.
 * - It is the parent of the ranks. So a pid that it signals is still that rank's: not reaped yet.
 * - It is forked before mpirun starts threads (PMIx has some), so it may fork safely, and quickly
 *   because it is small.
 *
 * It holds no state that mpirun would need. When mpirun closes the socket, by ending or by being
 * killed, the guardian kills what is left of the job, removes the session directory and exits. It
 * leads its own session, so neither the terminal's signals nor `kill -9 -PGID` reach it together
 * with mpirun. It has a command line of its own, so `pkill -9 -f mpirun` does not match it either.
 *
 * If both are killed all the same, no process is left that could find the job's descendants. So the
 * kernel kills each rank when the guardian has ended, whatever the rank is doing. There are two
 * mechanisms: PR_SET_PDEATHSIG kills the process itself, and a lifeline kills its process group.
 * Each misses some cases. PR_SET_PDEATHSIG is lost in a set-user-ID program and does not reach the
 * children of a script. The lifeline is lost if a rank closes its descriptors. A program in MPI
 * also ties itself to mpirun (lib/rte/report.c), which reaches even processes that lead a process
 * group of their own. The session directory then stays until this user's next job. */
#include "mpirun/ranks/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "mpirun/base/descriptors.h"
#include "lib/util/base/log.h"
#include "mpirun/base/strings.h"
#include "mpirun/ranks/descendants.h"
#include "mpirun/ranks/leftover.h"
#include "mpirun/ranks/orphans.h"
#include "mpirun/ranks/session_dir.h"
#include "mpirun/ranks/start_rank.h"

enum { SOCKET_FD = 3, KILL_TIMEOUT_MS = 2000, LOOK_MS = 1000 };

static struct {
    const struct tern_guardian_start *start;
    char *command_line;
    size_t command_line_bytes;
    char session_dir[600];
    pid_t mpirun;
    int signal_fd;
    pid_t *pids; /* by rank; 0 if not running */
    bool *awaited; /* by rank: ALONE is to be sent when nothing of it is left */
    int ranks, awaited_count;
    struct tern_guardian_message *outgoing;
    int outgoing_count, outgoing_room;
    bool finishes; /* all ranks have ended: GONE is sent as soon as nothing is left */
    bool gone;     /* GONE has been sent */
    bool cleared;  /* nothing of the job is left */
} guardian;

/* Queues an answer until mpirun receives it. If both processes could block in sending, each would
 * wait for the other for ever. */
static void answer(const struct tern_guardian_message *message)
{
    if (guardian.outgoing_count == guardian.outgoing_room) {
        guardian.outgoing_room = guardian.outgoing_room ? 2 * guardian.outgoing_room : 64;
        guardian.outgoing =
            tern_must_grow(guardian.outgoing, guardian.outgoing_room * sizeof *guardian.outgoing);
    }
    guardian.outgoing[guardian.outgoing_count++] = *message;
}

static void answer_rank(int kind, int rank, int pid, int value, int step)
{
    struct tern_guardian_message message = {
        .kind = kind, .rank = rank, .pid = pid, .value = value, .step = step
    };
    answer(&message);
}

static void flush_answers(void)
{
    int sent = 0;
    while (sent < guardian.outgoing_count &&
           send(SOCKET_FD, &guardian.outgoing[sent], sizeof *guardian.outgoing,
                MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        sent++;
    guardian.outgoing_count -= sent;
    memmove(guardian.outgoing, guardian.outgoing + sent,
            guardian.outgoing_count * sizeof *guardian.outgoing);
}

/* ---- the guardian's loop ---- */

static void spawn(const struct tern_guardian_message *request, const int fds[3])
{
    if (request->rank >= guardian.ranks) {
        int ranks = 2 * (request->rank + 32);
        guardian.pids = tern_must_grow(guardian.pids, ranks * sizeof *guardian.pids);
        guardian.awaited = tern_must_grow(guardian.awaited, ranks * sizeof *guardian.awaited);
        memset(guardian.pids + guardian.ranks, 0, (ranks - guardian.ranks) * sizeof *guardian.pids);
        memset(guardian.awaited + guardian.ranks, 0,
               (ranks - guardian.ranks) * sizeof *guardian.awaited);
        guardian.ranks = ranks;
    }
    tern_leftover_note(request->rank, fds);
    pid_t pid = tern_start_rank(request, fds);
    int error = errno;
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    if (pid < 0) {
        answer_rank(TERN_GUARDIAN_FAILED, request->rank, 0, error, TERN_STEP_FORK);
        return;
    }
    /* here as well: a signal for the group may arrive before the child has run */
    setpgid(pid, pid);
    guardian.pids[request->rank] = pid;
    answer_rank(TERN_GUARDIAN_STARTED, request->rank, pid, 0, 0);
}

static void child_reaped(pid_t pid, int status)
{
    int rank = 0;
    while (rank < guardian.ranks && guardian.pids[rank] != pid)
        rank++;
    if (rank == guardian.ranks) {
        tern_orphan_ended(pid, status);
        return;
    }
    guardian.pids[rank] = 0;
    struct tern_start_failure failure;
    bool failed = false;
    while (tern_start_next_failure(&failure)) {
        failed |= failure.rank == rank;
        answer_rank(TERN_GUARDIAN_FAILED, failure.rank, 0, failure.error, failure.step);
    }
    if (!failed)
        answer_rank(TERN_GUARDIAN_EXITED, rank, pid, status, 0);
}

/* Sends a signal to the process group of a rank. A process that was adopted need not lead one, but
 * is in the group of the rank's first process, unless it has left that. */
static void signal_group(pid_t pid, int number)
{
    if (kill(-pid, number) == 0 || errno != ESRCH)
        return;
    pid_t group = getpgid(pid);
    if (group <= 1 || group == getpgrp() || kill(-group, number) < 0)
        kill(pid, number);
}

static void signal_ranks(int rank, int number)
{
    for (int r = 0; r < guardian.ranks; r++) {
        if (guardian.pids[r] && (rank < 0 || rank == r))
            signal_group(guardian.pids[r], number);
    }
}

static void say_gone(void)
{
    if (!guardian.gone)
        answer_rank(TERN_GUARDIAN_GONE, 0, 0, !guardian.cleared, 0);
    guardian.gone = true;
}

/* Reaps children that have ended. Without a child, nothing of the job is left at all: orphans
 * become children of this process. */
static void reap(void)
{
    struct signalfd_siginfo info;
    while (read(guardian.signal_fd, &info, sizeof info) > 0)
        ;
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        child_reaped(pid, status);
    if (guardian.finishes && pid < 0 && errno == ECHILD) {
        guardian.cleared = true;
        say_gone();
    }
}

static bool is_rank(pid_t pid)
{
    int rank = 0;
    while (rank < guardian.ranks && guardian.pids[rank] != pid)
        rank++;
    return rank < guardian.ranks;
}

/* Takes another process for the process of a rank: the rank's own has started it and ended. */
static void adopt(int rank, const struct tern_ancestry *line)
{
    int status = 0;
    bool ended = false, known = rank >= 0 && rank < guardian.ranks && !guardian.pids[rank];
    pid_t pid = known ? tern_orphan_of_program(line, is_rank, &ended, &status) : 0;
    if (known && !line->count)
        pid = tern_orphan_of_rank(rank, is_rank);
    if (pid)
        answer_rank(TERN_GUARDIAN_STARTED, rank, pid, 0, 0);
    if (pid && !ended)
        guardian.pids[rank] = pid;
    else
        answer_rank(TERN_GUARDIAN_EXITED, rank, ended ? line->pids[0] : 0, status, 0);
}

/* Answers for the awaited ranks of which nothing is left. */
static void check_awaited(void)
{
    if (!guardian.awaited_count)
        return;
    bool *left = tern_must_alloc((size_t)guardian.ranks * sizeof *left);
    int running = 0;
    for (int rank = 0; rank < guardian.ranks; rank++)
        running += guardian.pids[rank] != 0;
    tern_orphans_mark(left, guardian.ranks, running, is_rank);
    for (int rank = 0; rank < guardian.ranks; rank++) {
        if (!guardian.awaited[rank] || left[rank])
            continue;
        guardian.awaited[rank] = false;
        guardian.awaited_count--;
        answer_rank(TERN_GUARDIAN_ALONE, rank, 0, 0, 0);
    }
    free(left);
}

static void await(int rank)
{
    if (rank < 0 || rank >= guardian.ranks)
        return;
    guardian.awaited_count += !guardian.awaited[rank];
    guardian.awaited[rank] = true;
    check_awaited();
}

static void say_left(pid_t pid, int number, bool holders_only)
{
    struct tern_guardian_message message = {
        .kind = TERN_GUARDIAN_LEFT, .pid = pid, .value = number
    };
    bool holds = tern_leftover_describe(pid, &message.rank, message.text, sizeof message.text);
    if (holds || !holders_only)
        answer(&message);
}

static void say_holder(pid_t pid)
{
    say_left(pid, 0, true);
}

static void say_asked(pid_t pid)
{
    say_left(pid, SIGTERM, false);
}

static void say_killed(pid_t pid)
{
    say_left(pid, SIGKILL, false);
}

/* Kills what is left of the job, and says so. `says`: names each process first. */
static void clear(bool says)
{
    reap();
    if (says)
        tern_descendants_signal(0, say_killed);
    signal_ranks(-1, SIGKILL);
    guardian.cleared = tern_descendants_kill(KILL_TIMEOUT_MS, child_reaped);
    say_gone();
}

static _Noreturn void end(bool orderly)
{
    if (!orderly) {
        if (guardian.ranks && !guardian.cleared)
            tern_log("%s (pid %d) has ended unexpectedly; its job ends now", guardian.start->parent,
                     (int)guardian.mpirun);
        signal_ranks(-1, SIGKILL);
        tern_descendants_kill(KILL_TIMEOUT_MS, NULL);
    }
    tern_session_remove(guardian.session_dir);
    _exit(0);
}

/* Starts the rank, or refuses if descriptors are missing: they get lost in transit when the
 * guardian's limit of open files is reached. */
static void spawn_or_refuse(const struct tern_guardian_message *request, const int fds[3],
                            int fd_count)
{
    if (fd_count == 3) {
        spawn(request, fds);
        return;
    }
    for (int i = 0; i < fd_count; i++)
        close(fds[i]);
    answer_rank(TERN_GUARDIAN_FAILED, request->rank, 0, EMFILE, TERN_STEP_DESCRIPTORS);
}

static void handle(const struct tern_guardian_message *request, const int fds[3], int fd_count)
{
    switch (request->kind) {
    case TERN_GUARDIAN_PLAN:
        if (fd_count < 2) {
            tern_log("the guardian process has too few file descriptors; raise the limit (ulimit "
                     "-n)");
            end(false);
        }
        if (tern_start_take_plan(request, fds, fd_count)) {
            tern_log("guardian: mmap of %llu bytes: %s", (unsigned long long)request->size,
                     strerror(errno));
            end(false);
        }
        break;
    case TERN_GUARDIAN_SPAWN:
        spawn_or_refuse(request, fds, fd_count);
        break;
    case TERN_GUARDIAN_SIGNAL:
        signal_ranks(request->rank, request->value);
        break;
    case TERN_GUARDIAN_ADOPT:
        adopt(request->rank, &request->line);
        break;
    case TERN_GUARDIAN_AWAIT:
        await(request->rank);
        break;
    case TERN_GUARDIAN_FINISH:
        guardian.finishes = true;
        reap();
        break;
    case TERN_GUARDIAN_NAME:
        tern_descendants_signal(0, say_holder);
        break;
    case TERN_GUARDIAN_ASK:
        tern_descendants_signal(SIGTERM, request->value ? say_asked : NULL);
        tern_descendants_signal(SIGCONT, NULL);
        break;
    case TERN_GUARDIAN_KILL:
        clear(request->value);
        break;
    case TERN_GUARDIAN_CLEAN:
        end(true);
    }
}

static _Noreturn void guard(void)
{
    for (;;) {
        struct pollfd polled[2] = { { SOCKET_FD, POLLIN | (guardian.outgoing_count ? POLLOUT : 0),
                                      0 },
                                    { guardian.signal_fd, POLLIN, 0 } };
        /* the end of a process tells most, but not that one has got another environment */
        int found = poll(polled, 2, guardian.awaited_count ? LOOK_MS : -1);
        if (found < 0 && errno != EINTR) {
            tern_log("guardian: poll: %s", strerror(errno));
            end(false);
        }
        if (polled[1].revents)
            reap();
        if (polled[1].revents || found == 0)
            check_awaited();
        if (polled[0].revents & (POLLIN | POLLHUP | POLLERR)) {
            struct tern_guardian_message request;
            int fds[3], fd_count;
            int got = tern_guardian_receive(SOCKET_FD, &request, fds, &fd_count);
            if (got < 0)
                end(false);
            if (got > 0)
                handle(&request, fds, fd_count);
        }
        flush_answers();
    }
}

/* Closes all descriptors except the socket and standard error. A program that waits for the end of
 * mpirun's output must not wait for the guardian. */
static void keep_two_descriptors(int socket_fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
    }
    if (socket_fd != SOCKET_FD &&
        (dup2(socket_fd, SOCKET_FD) < 0 || fcntl(SOCKET_FD, F_SETFD, FD_CLOEXEC) < 0))
        _exit(1); /* without the socket nobody could ever tell the guardian to end */
    tern_descriptors_close(SOCKET_FD + 1);
}

void tern_guardian_command_line(char **argv)
{
    guardian.command_line = argv[0];
    for (; *argv && *argv == guardian.command_line + guardian.command_line_bytes; argv++)
        guardian.command_line_bytes += strlen(*argv) + 1;
}

/* Changes the name that ps and pgrep show. The kernel reads the command line from this process's
 * own memory. */
static void change_name(void)
{
    static const char name[] = "tern-guardian";
    prctl(PR_SET_NAME, name, 0, 0, 0);
    if (!guardian.command_line_bytes)
        return;
    memset(guardian.command_line, 0, guardian.command_line_bytes);
    snprintf(guardian.command_line, guardian.command_line_bytes, "%s", name);
}

static _Noreturn void run_guardian(int socket_fd, pid_t mpirun)
{
    setsid();
    change_name();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    keep_two_descriptors(socket_fd);
    guardian.mpirun = mpirun;
    sigset_t all, child;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD,
           SIG_DFL); /* some parents ignore SIGCHLD, and then waiting for children would not work */
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    guardian.signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (guardian.signal_fd < 0 || tern_start_open(guardian.start) < 0)
        _exit(1);
    struct tern_guardian_message message = { .kind = TERN_GUARDIAN_READY };
    if (tern_session_create(guardian.start->token, guardian.session_dir,
                            sizeof guardian.session_dir)) {
        message.kind = TERN_GUARDIAN_REFUSED;
        snprintf(message.text, sizeof message.text, "%s", tern_error_text(TERN_ERR_OTHER));
        tern_guardian_send(SOCKET_FD, &message, NULL, 0);
        _exit(1);
    }
    memcpy(message.text, guardian.session_dir, sizeof message.text);
    answer(&message);
    flush_answers();
    guard();
}

int tern_guardian_fork(const struct tern_guardian_start *start, pid_t *ret_pid, int *ret_fd)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return tern_error(TERN_ERR_OTHER, "socketpair: %s", strerror(errno));
    pid_t mpirun = getpid();
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return tern_error(TERN_ERR_OTHER, "fork: %s", strerror(errno));
    }
    if (pid == 0) {
        guardian.start = start;
        run_guardian(ends[1], mpirun);
    }
    close(ends[1]);
    *ret_pid = pid;
    *ret_fd = ends[0];
    return 0;
}
