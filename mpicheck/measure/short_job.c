/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/measure/short_job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/base/log.h"

enum {
    LINE_MOST = 4096, POLL_MS = 50, STUCK_MS = 1000, END_MS = 5000, KILL_MS = 2000, WIDTH_MOST = 64
};

static volatile sig_atomic_t interrupted;

/* One of the two streams of a job; what is not a whole line yet waits here. The end of a line that
 * is too long is dropped. */
struct stream {
    int fd; /* -1: closed */
    size_t used;
    char line[LINE_MOST];
};

struct running {
    const struct tern_mc_job *job;
    enum tern_mc_end *end;
    pid_t pid;
    bool reaped;
    int status;
    int done; /* ranks that have printed `done` */
    double limit, stuck_at, ending_at; /* when; 0: not */
    bool killed;
    struct stream streams[2];
};

double tern_mc_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void note_signal(int signal)
{
    (void)signal;
    interrupted = 1;
}

void tern_mc_catch_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    sigaction(SIGHUP, &action, &before);
    if (before.sa_handler == SIG_IGN) /* nohup */
        signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

bool tern_mc_interrupted(void)
{
    return interrupted;
}

static _Noreturn void become(const struct tern_arguments *words, const int output[2],
                             const int errors[2])
{
    int empty = open("/dev/null", O_RDONLY);
    setpgid(0, 0); /* Ctrl-C is for mpicheck, which ends the job in order */
    signal(SIGPIPE, SIG_DFL);
    dup2(empty, STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    dup2(errors[1], STDERR_FILENO);
    execvp(words->word[0], words->word);
    tern_log("%s cannot be started: %s", words->word[0], strerror(errno));
    _exit(127);
}

static bool start(struct running *running, const struct tern_mc_job *job, enum tern_mc_end *end)
{
    int output[2], errors[2];
    *running = (struct running){.job = job, .end = end};
    if (pipe2(output, O_CLOEXEC | O_NONBLOCK) || pipe2(errors, O_CLOEXEC | O_NONBLOCK) ||
        (running->pid = fork()) < 0) {
        tern_log("no process can be started: %s", strerror(errno));
        return false;
    }
    if (running->pid == 0) {
        /* programs expect that writing waits */
        fcntl(output[1], F_SETFL, 0);
        fcntl(errors[1], F_SETFL, 0);
        become(job->words, output, errors);
    }
    setpgid(running->pid, running->pid);
    close(output[1]);
    close(errors[1]);
    running->streams[0].fd = output[0];
    running->streams[1].fd = errors[0];
    running->limit = tern_mc_now() + job->limit_s;
    *end = TERN_MC_FAILED;
    return true;
}

/* ---- lines ---- */

static void take_line(struct running *running, const char *line)
{
    const struct tern_mc_job *job = running->job;
    if (strncmp(line, "@ ", 2)) {
        if (*line)
            job->line(job->context, line);
        return;
    }
    running->done += strncmp(line, "@ done ", 7) == 0;
    bool stuck = strncmp(line, "@ hang ", 7) == 0 || strncmp(line, "@ broken ", 9) == 0;
    if (stuck && running->stuck_at == 0)
        running->stuck_at = tern_mc_now();
    job->record(job->context, line + 2);
}

static void take_bytes(struct running *running, struct stream *stream, const char *bytes,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            stream->line[stream->used] = 0;
            take_line(running, stream->line);
            stream->used = 0;
        } else if (stream->used < LINE_MOST - 1) {
            stream->line[stream->used++] = bytes[i] ? bytes[i] : '\x7f'; /* no text ends there */
        }
    }
}

static void read_stream(struct running *running, struct stream *stream)
{
    char bytes[65536];
    ssize_t count = read(stream->fd, bytes, sizeof bytes);
    if (count > 0) {
        take_bytes(running, stream, bytes, (size_t)count);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        /* a record without an end was cut: its rank or mpirun was killed */
        if (stream->used < 2 || strncmp(stream->line, "@ ", 2))
            take_bytes(running, stream, "\n", 1);
        close(stream->fd);
        stream->fd = -1;
    }
}

/* ---- ends ---- */

static void end_job(struct running *running, enum tern_mc_end why)
{
    if (running->ending_at > 0)
        return;
    *running->end = why;
    running->ending_at = tern_mc_now();
    if (!running->reaped)
        kill(running->pid, SIGTERM);
}

static void check_time(struct running *running, double now)
{
    if (interrupted)
        end_job(running, TERN_MC_INTERRUPTED);
    else if (running->done >= running->job->ranks)
        end_job(running, TERN_MC_DONE);
    /* other ranks may report the same hang */
    else if (running->stuck_at > 0 && now - running->stuck_at > STUCK_MS * 1e-3)
        end_job(running, TERN_MC_STUCK);
    else if (now > running->limit)
        end_job(running, TERN_MC_TIMEOUT);
    if (running->ending_at > 0 && !running->killed && now - running->ending_at > END_MS * 1e-3) {
        running->killed = true;
        kill(-running->pid, SIGKILL);
    }
}

static void reap(struct running *running)
{
    if (running->reaped || waitpid(running->pid, &running->status, WNOHANG) != running->pid)
        return;
    running->reaped = true;
    if (running->ending_at > 0)
        return;
    bool well = WIFEXITED(running->status) && WEXITSTATUS(running->status) == 0;
    *running->end = well ? TERN_MC_DONE : TERN_MC_FAILED;
    running->ending_at = tern_mc_now();
}

/* Returns true if the job has ended: its mpirun, and its streams or the time for them. */
static bool has_ended(struct running *running, double now)
{
    bool open = running->streams[0].fd >= 0 || running->streams[1].fd >= 0;
    if (!running->reaped || (open && now - running->ending_at < KILL_MS * 1e-3))
        return false;
    for (int i = 0; i < 2; i++)
        if (running->streams[i].fd >= 0)
            close(running->streams[i].fd);
    return true;
}

static int look(struct running *running, int count)
{
    struct pollfd fds[2 * WIDTH_MOST];
    struct stream *streams[2 * WIDTH_MOST];
    struct running *owners[2 * WIDTH_MOST];
    int open = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            if (running[i].streams[k].fd < 0)
                continue;
            fds[open] = (struct pollfd){.fd = running[i].streams[k].fd, .events = POLLIN};
            owners[open] = &running[i];
            streams[open++] = &running[i].streams[k];
        }
    int ready = poll(fds, (nfds_t)open, open ? POLL_MS : 5);
    for (int i = 0; ready > 0 && i < open; i++)
        if (fds[i].revents)
            read_stream(owners[i], streams[i]);
    return ready;
}

void tern_mc_run_many(const struct tern_mc_job *jobs, int count, int width,
                      enum tern_mc_end *ret_ends)
{
    int next = 0, active = 0;
    width = width > WIDTH_MOST ? WIDTH_MOST : width;
    struct running *running = calloc((size_t)width, sizeof *running);
    if (!running) {
        tern_log("no memory to run jobs");
        exit(3);
    }
    while (next < count || active > 0) {
        while (next < count && active < width && !interrupted) {
            ret_ends[next] = TERN_MC_FAILED;
            active += start(&running[active], &jobs[next], &ret_ends[next]);
            next++;
        }
        while (interrupted && next < count)
            ret_ends[next++] = TERN_MC_INTERRUPTED;
        look(running, active);
        double now = tern_mc_now();
        for (int i = 0; i < active; i++) {
            reap(&running[i]);
            check_time(&running[i], now);
            if (has_ended(&running[i], now))
                running[i--] = running[--active];
        }
    }
    free(running);
}

enum tern_mc_end tern_mc_run(const struct tern_mc_job *job)
{
    enum tern_mc_end end;
    tern_mc_run_many(job, 1, 1, &end);
    return end;
}
