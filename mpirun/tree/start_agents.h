/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_START_AGENTS_H
#define TERN_MPIRUN_TREE_START_AGENTS_H

/* Before a job on several hosts: starts the agents, and learns which processors their hosts have.
 */

#include "mpirun/plan/host_list.h"
#include "mpirun/plan/map.h"
#include "mpirun/plan/options.h"
#include "mpirun/wire/frame.h"

/* What comes from agents while the job runs, after tern_muster has returned. */
struct tern_muster_listener {
    void (*lost)(int host, const char *why); /* an agent, or the way to it */
    void (*received)(const struct tern_frame *frame);
    void (*said)(const char *line); /* a line on an agent's standard error; also before that */
};

/* `hosts`, one for each of the list, get name, processors and limit (but `here`, the number of this
 * machine or -1, which has them). `listener` must live on. Blocks until all have answered. 0, or
 * TERN_ERR_OTHER: the text says which host could not be reached, and why, in the words of ssh;
 * where there are several the others have been said. All agents have been ended then. */
int tern_muster(const struct tern_options *options, const struct tern_host_list *list, int here,
                struct tern_host *hosts, const struct tern_muster_listener *listener);

#endif
