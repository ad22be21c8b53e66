/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_AGENT_H
#define TERN_MPIRUN_AGENT_H

/* mpirun --agent: the part of a job that runs on a further host. Its standard input and output are
 * the link to mpirun, or to the agent that started it; or it `calls` mpirun (--agent call), and
 * finds on standard input where. */

#include <stdbool.h>

int tern_agent_run(bool calls);

#endif
