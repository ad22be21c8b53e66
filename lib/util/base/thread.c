/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/thread.h"

#include <signal.h>

int tern_thread_start(void *(*run)(void *), pthread_t *ret_thread)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (unsigned i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int error = pthread_create(ret_thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
