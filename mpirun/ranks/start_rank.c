/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/start_rank.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/util/net/lifeline.h"
#include "mpirun/base/descriptors.h"
#include "mpirun/base/strings.h"
#include "mpirun/plan/map/map.h"

static struct {
    const struct tern_guardian_start *start;
    pid_t self;
    const char *plan;
    int node_memory, reports; /* descriptors to pass to ranks; -1 if there is none */
    int failure_pipe[2];
} starter = { .node_memory = -1, .reports = -1 };

int tern_start_open(const struct tern_guardian_start *start)
{
    starter.start = start;
    starter.self = getpid();
    return pipe2(starter.failure_pipe, O_CLOEXEC | O_NONBLOCK);
}

int tern_start_take_plan(const struct tern_guardian_message *request, const int fds[3],
                         int fd_count)
{
    starter.plan = mmap(NULL, request->size, PROT_READ, MAP_PRIVATE, fds[0], 0);
    if (starter.plan == MAP_FAILED)
        return -1;
    close(fds[0]);
    starter.node_memory = fds[1];
    starter.reports = fd_count > 2 ? fds[2] : -1;
    return 0;
}

bool tern_start_next_failure(struct tern_start_failure *ret_failure)
{
    return read(starter.failure_pipe[0], ret_failure, sizeof *ret_failure) == sizeof *ret_failure;
}

/* ---- between fork and exec: async-signal-safe calls only ---- */

static void child_failed(int rank, int step)
{
    struct tern_start_failure failure = { rank, step, errno };
    if (write(starter.failure_pipe[1], &failure, sizeof failure) < 0)
        _exit(126);
    _exit(127);
}

static void inherit(int rank, int fd, int as)
{
    if (fd >= 0 && dup2(fd, as) < 0)
        child_failed(rank, TERN_STEP_DESCRIPTORS);
}

static void reset_signals(void)
{
    struct sigaction standard = { .sa_handler = SIG_DFL };
    for (int number = 1; number < NSIG; number++) {
        if (number != SIGHUP || !starter.start->hangup_ignored)
            sigaction(number, &standard, NULL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Makes the kernel kill this process and its process group when the guardian ends. The guardian may
 * have ended just before: then exits. */
static void depend_on_guardian(int lifeline)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    tern_lifeline_tie(lifeline, -getpid());
    if (getppid() != starter.self)
        _exit(127);
}

static _Noreturn void become_rank(const struct tern_guardian_message *request, const int fds[3],
                                  int lifeline, char **argv, char **envp)
{
    if (setpgid(0, 0) < 0) /* without its own group, no signal would reach the rank */
        child_failed(request->rank, TERN_STEP_GROUP);
    depend_on_guardian(lifeline);
    reset_signals();
    tern_descriptors_close_on_exec(3);
    for (int i = 0; i < 3; i++) {
        if (dup2(fds[i], i) < 0)
            child_failed(request->rank, TERN_STEP_DESCRIPTORS);
    }
    inherit(request->rank, starter.node_memory, starter.start->node_memory_fd);
    inherit(request->rank, starter.reports, starter.start->reports_fd);
    inherit(request->rank, lifeline, starter.start->lifeline_fd);
    setrlimit(RLIMIT_NOFILE, &starter.start->descriptor_limit);
    if (request->cpus) {
        /* Ignore a failure: a rank can run even if processors have gone away. */
        sched_setaffinity(0, sizeof(struct tern_cpus),
                          (const cpu_set_t *)(const void *)(starter.plan + request->cpus));
    }
    if (request->wdir && chdir(starter.plan + request->wdir) < 0)
        child_failed(request->rank, TERN_STEP_WDIR);
    execve(starter.plan + request->path, argv, envp);
    child_failed(request->rank, TERN_STEP_EXEC);
    _exit(127);
}

/* ---- the fork ---- */

/* Forks a rank, tied to a lifeline whose other end stays open here as long as the guardian lives.
 * Returns the process, or -1 with errno. */
static pid_t fork_tied(const struct tern_guardian_message *request, const int fds[3], char **argv,
                       char **envp)
{
    int lifeline[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, lifeline) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        become_rank(request, fds, lifeline[0], argv, envp);
    int error = errno;
    close(lifeline[0]);
    if (pid < 0)
        close(lifeline[1]);
    errno = error;
    return pid;
}

static int list_length(uint64_t offset)
{
    uint32_t count = 0;
    if (offset)
        memcpy(&count, starter.plan + offset, sizeof count);
    return (int)count;
}

static char **point_into_plan(uint64_t offset, char **at)
{
    const char *text = starter.plan + offset + sizeof(uint32_t);
    for (int i = list_length(offset); i > 0; i--) {
        *at++ = (char *)text;
        text += strlen(text) + 1;
    }
    return at;
}

pid_t tern_start_rank(const struct tern_guardian_message *request, const int fds[3])
{
    char **argv = tern_must_alloc((list_length(request->argv) + 1) * sizeof *argv);
    char **envp = tern_must_alloc(
        (list_length(request->shared_env) + list_length(request->own_env) + 1) * sizeof *envp);
    point_into_plan(request->argv, argv);
    point_into_plan(request->own_env, point_into_plan(request->shared_env, envp));
    pid_t pid = fork_tied(request, fds, argv, envp);
    int error = errno;
    free(argv);
    free(envp);
    errno = error;
    return pid;
}
