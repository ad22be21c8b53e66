/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_START_AGENTS_H
#define TERN_MPIRUN_TREE_START_AGENTS_H

/* Before a job on several hosts: starts the agents and learns which processors their hosts have. */

#include "mpirun/plan/hosts/host_list.h"
#include "mpirun/plan/map/map.h"
#include "mpirun/plan/words/options.h"
#include "mpirun/wire/frame.h"

/* Called with what arrives from agents while the job runs, after tern_start_agents has returned. */
struct tern_start_agents_listener {
    void (*lost)(int host, const char *why); /* an agent, or the link to it, is lost */
    void (*received)(const struct tern_frame *frame);
    /* a line of an agent's standard error; may also be called before tern_start_agents returns */
    void (*said)(const char *line);
};

/* Starts the agents of the list's hosts, except `here`, this machine's index or -1. Fills in the
 * name, processors and limit of each of their `hosts`. `listener` must live as long as the process.
 * Returns 0, or TERN_ERR_OTHER with a text that names a host that could not be started and the
 * reason, in the words of ssh; failures of further hosts have been logged. After a failed start all
 * agents have been ended. Blocks until all have answered. */
int tern_start_agents(const struct tern_options *options, const struct tern_host_list *list,
                      int here, struct tern_host *hosts,
                      const struct tern_start_agents_listener *listener);

/* Returns true if the job shall go on without hosts that cannot be started on
 * (launch_missing=go_on). Then tern_start_agents waits until each host has answered or failed. */
bool tern_start_agents_goes_on(void);
/* Returns true if a host, by its index in the list of tern_start_agents, could not be started
 * on. */
bool tern_start_agents_has_failed(int host);

#endif
