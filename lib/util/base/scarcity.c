/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/scarcity.h"

#include "lib/util/base/log.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

bool tern_scarcity_is(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

void tern_scarcity_say(int error)
{
    static bool said;
    struct rlimit limit;
    if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    if (error == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0)
        tern_log("%lu files are open, which is the limit here; new connections wait until one is "
                 "closed. Raise the limit (ulimit -n) before the job starts",
                 (unsigned long)limit.rlim_cur);
    else
        tern_log("the system accepts no more connections (%s); they wait and will be tried again",
                 strerror(error));
}
