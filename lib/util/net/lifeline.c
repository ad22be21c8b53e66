/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/lifeline.h"

#include <fcntl.h>
#include <signal.h>

/* How: a socket with O_ASYNC sends its owner the signal of F_SETSIG when it becomes readable, which
 * here happens only when the other end closes. The owner belongs to the open file, not to the
 * descriptor. So each tied process or group needs its own pair. */
bool tern_lifeline_tie(int end, pid_t process)
{
    return fcntl(end, F_SETOWN, process) == 0 && fcntl(end, F_SETSIG, SIGKILL) == 0 &&
           fcntl(end, F_SETFL, O_ASYNC) == 0;
}

void tern_lifeline_untie(int end)
{
    fcntl(end, F_SETFL, 0);
}
