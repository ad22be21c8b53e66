/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/tree/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void become(const struct tern_command *command, const int fds[3], pid_t parent)
{
    char **argv = command->argv.items;
    setsid();
    if (!command->outlives)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    for (int i = 0; i < 3; i++)
        dup2(fds[i], i);
    for (const char *const *name = command->without; name && *name; name++)
        unsetenv(*name);
    if (command->with)
        putenv(command->with);
    execvp(argv[0], argv);
    dprintf(2, "cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

int tern_command_run(const struct tern_command *command, pid_t *ret_pid, int ret_ours[3])
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, words[2] = {-1, -1};
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(words, O_CLOEXEC) < 0)
        goto close_pipes;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(command, (int[]){in[0], out[1], words[1]}, parent);
    if (pid < 0)
        goto close_pipes;
    close(in[0]);
    close(out[1]);
    close(words[1]);
    ret_ours[0] = in[1];
    ret_ours[1] = out[0];
    ret_ours[2] = words[0];
    *ret_pid = pid;
    return 0;

close_pipes:;
    int error = errno;
    for (int i = 0; i < 2; i++) {
        close(in[i]);
        close(out[i]);
        close(words[i]);
    }
    errno = error;
    return -1;
}

int tern_command_reap(pid_t *pid, int patience_ms)
{
    enum { STEP_MS = 5 };
    int status = 0;
    for (int waited_ms = 0; waitpid(*pid, &status, WNOHANG) == 0; waited_ms += STEP_MS) {
        if (waited_ms >= patience_ms)
            kill(*pid, SIGKILL);
        poll(NULL, 0, STEP_MS);
    }
    *pid = 0;
    return status;
}
