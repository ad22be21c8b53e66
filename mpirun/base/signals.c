/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/base/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "mpirun/base/loop.h"

static const int forwarded[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,
                                 SIGTSTP, SIGCONT, SIGALRM, SIGXCPU, SIGURG,  SIGWINCH };
static struct tern_watch source;
static void (*told)(int number);

static void signals_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    struct signalfd_siginfo info;
    while (read(watch->fd, &info, sizeof info) == sizeof info)
        told((int)info.ssi_signo);
}

int tern_signals_catch(bool hangup_ignored, void (*caught)(int number))
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++) {
        if (forwarded[i] != SIGHUP || !hangup_ignored)
            sigaddset(&set, forwarded[i]);
    }
    sigprocmask(SIG_SETMASK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    told = caught;
    source = (struct tern_watch){ .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                                  .ready = signals_ready };
    if (source.fd < 0 || tern_loop_watch(&source, EPOLLIN) < 0)
        return tern_error(TERN_ERR_OTHER, "signalfd: %s", strerror(errno));
    return 0;
}

void tern_signals_release(void)
{
    sigset_t none;
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
        signal(forwarded[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
