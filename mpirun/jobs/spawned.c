/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/jobs/spawned.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/util/net/question.h"
#include "mpirun/base/loop.h"
#include "mpirun/base/strings.h"
#include "mpirun/jobs/children.h"
#include "mpirun/jobs/job_ties.h"
#include "mpirun/jobs/port_call.h"
#include "mpirun/jobs/spawn_line.h"

#ifndef SYS_pidfd_open /* headers before Linux 5.3 */
#define SYS_pidfd_open 434
#endif

enum { REFUSE_MS = 3000, NEAR_REPORTS_MS = 20, FAR_REPORTS_MS = 3000 };

static struct {
    bool open, beside;
    bool joined, ever; /* the job is, or has been, connected to another one */
    bool still; /* what tern_spawned_still has said last */
    struct tern_spawn_line line; /* the question as a command line */
    char *reason; /* the last message that was kept, until the job starts */
    struct tern_watch socket; /* to the mpirun above */
    struct tern_watch program; /* the process beside which this mpirun was started */
    bool far;                 /* the job has ranks on other hosts */
    struct tern_timer judge;  /* until the ranks' last reports are here */
    const struct tern_spawned_listener *listener;
} spawned = {.socket.fd = -1, .program.fd = -1};

/* ---- the beginning ---- */

/* Keeps a message as the reason why the job does not start. Warnings are printed. */
static bool keep_message(const char *text)
{
    if (strncmp(text, "warning:", 8) == 0)
        return false;
    free(spawned.reason);
    spawned.reason = tern_must_copy(text);
    return true;
}

/* Reads the question. Returns NULL with TERN_ERR_ARG if it cannot be read. */
static char *read_question(int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    char *text = tern_must_alloc((size_t)st.st_size + 1);
    ssize_t length = pread(fd, text, (size_t)st.st_size, 0);
    if (length == st.st_size)
        return text;
    free(text);
    return NULL;
}

/* Leaves the terminal's process group, and the user's standard input, to the program. */
static void step_aside(void)
{
    int nothing = open("/dev/null", O_RDONLY);
    setsid();
    if (nothing > 0) {
        dup2(nothing, 0);
        close(nothing);
    }
}

static int number_of(const char *word)
{
    char *end;
    long number = strtol(word, &end, 10);
    return *word && !*end && number > 2 && number < 1 << 20 ? (int)number : -1;
}

int tern_spawned_open(int argc, char **argv, int *ret_argc, char ***ret_argv)
{
    spawned.beside = argc == 5 && strcmp(argv[4], "beside") == 0;
    int socket = argc == 4 || spawned.beside ? number_of(argv[2]) : -1;
    char *question = socket < 0 ? NULL : read_question(number_of(argv[3]));
    if (!question)
        return tern_error(TERN_ERR_ARG, "--spawned is for mpirun itself; start mpirun without it");
    if (spawned.beside && fork() != 0)
        _exit(0);
    step_aside();
    close(number_of(argv[3]));
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    spawned.open = true;
    spawned.socket.fd = socket;
    tern_log_divert(keep_message);
    int error = tern_spawn_line_make(argv[0], question, &spawned.line);
    free(question);
    if (error)
        return error;
    if (spawned.line.wdir && chdir(spawned.line.wdir) < 0)
        tern_log("warning: cannot start processes in %s, where their parents run: %s",
                 spawned.line.wdir, strerror(errno));
    *ret_argc = spawned.line.words.count;
    *ret_argv = spawned.line.words.items;
    return 0;
}

const char *tern_spawned_separator(void)
{
    return spawned.open ? spawned.line.separator : ":";
}

void tern_spawned_complete(struct tern_options *options)
{
    if (!spawned.open)
        return;
    tern_strings_set(&options->env, TERN_PARENT, spawned.line.port);
    options->job_number = spawned.line.number;
    options->universe = spawned.line.universe;
}

/* ---- messages of the mpirun above ---- */

static void send_up(enum tern_child_kind kind, int value, const char *text, size_t length)
{
    struct tern_child_message message = {.kind = kind, .value = value};
    if (spawned.beside || spawned.socket.fd < 0)
        return;
    memcpy(message.text, text, length);
    send(spawned.socket.fd, &message, offsetof(struct tern_child_message, text) + length,
         MSG_NOSIGNAL);
}

static void socket_ready(struct tern_watch *watch, uint32_t events)
{
    int32_t message[2];
    ssize_t length;
    (void)events;
    while ((length = recv(watch->fd, message, sizeof message, MSG_DONTWAIT)) > 0) {
        if (length == sizeof message && message[0] == TERN_CHILD_SIGNAL)
            spawned.listener->signalled(message[1]);
        else if (length == sizeof message && message[0] == TERN_CHILD_END)
            spawned.listener->end(NULL);
    }
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    tern_loop_watch(watch, 0);
    spawned.ever = true; /* nobody waits any more */
    spawned.listener->end("the mpirun that has started this job has ended");
}

/* The program beside this mpirun has ended. A job that has disconnected from it goes on. */
static void judge_end(struct tern_timer *timer)
{
    (void)timer;
    bool apart = spawned.ever && !spawned.joined;
    spawned.ever = true;
    if (!apart)
        spawned.listener->end("the program that has started this job has ended");
}

/* Ranks report that they part before the program can have left the barrier with them. The reports
 * of this host's ranks wait in their sockets by now; those of other hosts are on their way. */
static void program_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    tern_loop_watch(watch, 0);
    close(watch->fd);
    spawned.judge.expired = judge_end;
    tern_loop_set_timer(&spawned.judge, spawned.far ? FAR_REPORTS_MS : NEAR_REPORTS_MS);
}

/* Watches the program by its process id. */
static int watch_program(void)
{
    int fd = (int)syscall(SYS_pidfd_open, spawned.line.beside, 0);
    if (fd < 0 && errno == ESRCH)
        return tern_error(TERN_ERR_OTHER, "the program that has started this job has ended");
    if (fd < 0)
        return tern_error(TERN_ERR_OTHER,
                          "cannot watch the program that starts the processes (pidfd_open: %s); "
                          "Linux 5.3 or later is needed, or start the program by mpirun",
                          strerror(errno));
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    spawned.program = (struct tern_watch){.fd = fd, .ready = program_ready};
    return tern_loop_watch(&spawned.program, EPOLLIN) < 0
               ? tern_error(TERN_ERR_OTHER, "epoll_ctl: %s", strerror(errno))
               : 0;
}

int tern_spawned_begin(const struct tern_job *job, const struct tern_spawned_listener *listener)
{
    if (!spawned.open)
        return 0;
    tern_log_divert(NULL);
    /* the job starts, so what was said was advice, and no reason why it might end */
    free(spawned.reason);
    spawned.reason = NULL;
    spawned.listener = listener;
    spawned.far = job->host_count > (job->here >= 0);
    if (spawned.beside)
        return watch_program();
    for (int host = 0; host < job->host_count; host++)
        send_up(TERN_CHILD_USES, tern_job_ranks_on(job, host), job->hosts[host].name,
                strlen(job->hosts[host].name));
    spawned.socket.ready = socket_ready;
    return tern_loop_watch(&spawned.socket, EPOLLIN) < 0
               ? tern_error(TERN_ERR_OTHER, "epoll_ctl: %s", strerror(errno))
               : 0;
}

bool tern_spawned_is_awaited(void)
{
    return spawned.open && !spawned.ever;
}

void tern_spawned_joined(bool joined)
{
    spawned.joined = joined;
    spawned.ever |= joined;
    char *words = tern_ties_words(TERN_CHILD_TEXT);
    send_up(TERN_CHILD_JOINED, joined, words, strlen(words));
    free(words);
}

bool tern_spawned_has_parent(void)
{
    return spawned.open && !spawned.beside;
}

void tern_spawned_still(bool still)
{
    if (still != spawned.still)
        send_up(TERN_CHILD_STILL, still, "", 0);
    spawned.still = still;
}

bool tern_spawned_ask(const char *question)
{
    if (!tern_spawned_has_parent())
        return false;
    size_t left = strlen(question);
    while (left) {
        size_t part = left < TERN_CHILD_TEXT ? left : TERN_CHILD_TEXT;
        send_up(TERN_CHILD_ASK, part == left, question, part);
        question += part;
        left -= part;
    }
    return true;
}

/* ---- the end ---- */

void tern_spawned_end(const char *failure)
{
    static const char *const otherwise = "the processes have ended without calling MPI_Init";
    if (!tern_spawned_is_awaited() || !spawned.line.port)
        return;
    char *text = tern_must_copy(failure          ? failure
                                : spawned.reason ? spawned.reason
                                                 : otherwise);
    struct tern_answer_text answer = {TERN_LINE_REFUSAL, 0, text};
    tern_port_answer_now(spawned.line.port, &answer, REFUSE_MS);
    free(text);
}
