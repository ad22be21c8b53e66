/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/lifeline.h"

#include <fcntl.h>
#include <signal.h>

/* A socket with O_ASYNC sends the signal F_SETSIG to its owner when something can be read, here
 * only the end. The owner belongs to the open file, not to the descriptor: each tied process, or
 * group, needs a pair of its own. */
bool tern_lifeline_tie(int end, pid_t process)
{
    return fcntl(end, F_SETOWN, process) == 0 && fcntl(end, F_SETSIG, SIGKILL) == 0 &&
           fcntl(end, F_SETFL, O_ASYNC) == 0;
}

void tern_lifeline_untie(int end)
{
    fcntl(end, F_SETFL, 0);
}
