/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_AGENTS_H
#define TERN_MPIRUN_TREE_AGENTS_H

/* The agents below this process in the tree: starts them, speaks with them, notices their ends.
 * mpirun uses it for those it starts itself, and an agent for those that it starts. Hosts are
 * numbered as in the job; the tree follows from the numbers (launch.h). */

#include "mpirun/tree/launch.h"
#include "mpirun/wire/frame.h"

struct tern_agents_listener {
    void (*up)(int host);
    /* Could not be started; `why` in a sentence, with the words of ssh. */
    void (*failed)(int host, const char *why);
    void (*lost)(int host, const char *why);
    void (*received)(const struct tern_frame *frame);
    /* A line that an agent, or what it started, has written on its standard error: "host NAME: ..."
     */
    void (*said)(const char *line);
};

/* Both must live on. Call before all else. */
void tern_agents_open(const struct tern_launch *launch,
                      const struct tern_agents_listener *listener);

/* Starts the agent of a host. `address`: where it is reached, perhaps USER@, NULL: by its name.
 * Tells up or failed, later. Before there are threads. */
void tern_agents_start(int host, const char *name, const char *address, int patience_ms);

/* Agents that call by themselves (srun.h). Awaits that of a host. */
void tern_agents_await(int host, const char *name);
/* It has come, by this socket, which is owned from now on. */
void tern_agents_came(int host, int fd);
/* It will not come. False: it has, or was not awaited. */
bool tern_agents_stay_away(int host, const char *why);

/* Sends down: to frame->host, or all. What is for a host that has gone is dropped. */
void tern_agents_send(const struct tern_frame *frame);

/* We are about to be stopped by a signal, or go on. */
void tern_agents_excuse(bool stops);

/* Sets what tern_agents_end calls at last, for agents that one command has started (srun.h):
 * `timeout_ms` is the time left, `lost` is true if an agent that was up has been lost. */
void tern_agents_at_end(void (*end)(int timeout_ms, bool lost));
/* Closes all links, which ends the agents, and waits for their ends, at most so long; then kills
 * what is left here. */
void tern_agents_end(int timeout_ms);

/* The agent's first line, "TERN-AGENT VERSION ARCHITECTURE"; malloc'ed. */
char *tern_agent_greeting(void);

#endif
