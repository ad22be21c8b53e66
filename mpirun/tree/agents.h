/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_AGENTS_H
#define TERN_MPIRUN_TREE_AGENTS_H

/* The agents below this process in the tree: starts them, exchanges frames with them, and notices
 * when they end. mpirun uses this for the agents that it starts, and each agent for those that it
 * starts. Hosts have the same numbers as in the job; the tree follows from the numbers
 * (launch.h). */

#include "mpirun/tree/launch.h"
#include "mpirun/wire/frame.h"

/* Called on the loop, with what happens to the agents. */
struct tern_agents_listener {
    void (*up)(int host); /* The agent has answered and runs the same version. */
    /* The agent could not be started. `why` is a message that includes the words of ssh. */
    void (*failed)(int host, const char *why);
    void (*lost)(int host, const char *why); /* The link to an agent that was up has ended. */
    void (*received)(const struct tern_frame *frame);
    /* A line that an agent, or a command that it started, has written to standard error: "host
     * NAME: ..." */
    void (*said)(const char *line);
};

/* Prepares. Call this first. Both arguments must live as long as the process. */
void tern_agents_open(const struct tern_launch *launch,
                      const struct tern_agents_listener *listener);

/* Starts the agent of a host. `address` is where to reach the host, with USER@ if wanted; NULL: by
 * its name. The agent has `patience_ms` to answer. Calls `up` or `failed` later. Call it before
 * there are threads. */
void tern_agents_start(int host, const char *name, const char *address, int patience_ms);

/* Expects an agent that connects to mpirun by itself (srun.h). */
void tern_agents_await(int host, const char *name);
/* Gives an expected agent its connected socket, which is owned from now on. */
void tern_agents_came(int host, int fd);
/* Reports that an expected agent will not connect. Returns false if it has connected already, or
 * was not expected. */
bool tern_agents_stay_away(int host, const char *why);

/* Sends a frame down the tree: to frame->host, or to all. Drops frames for a host whose agent has
 * gone. */
void tern_agents_send(const struct tern_frame *frame);

/* Tells the agents that this process is about to be stopped by a signal (`stops`), or runs
 * again. */
void tern_agents_excuse(bool stops);

/* Sets a function that tern_agents_end calls last, for agents that one command has started
 * (srun.h). `timeout_ms` is the time left; `lost` is true if an agent that was up has been lost. */
void tern_agents_at_end(void (*end)(int timeout_ms, bool lost));
/* Closes all links, which makes the agents end. Waits for the commands that carried the links, for
 * at most `timeout_ms`, then kills those that are left here. Blocks. */
void tern_agents_end(int timeout_ms);

/* Returns an agent's first line, "TERN-AGENT VERSION ARCHITECTURE". The caller frees it. */
char *tern_agent_greeting(void);

#endif
