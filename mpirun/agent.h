/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_AGENT_H
#define TERN_MPIRUN_AGENT_H

/* mpirun --agent: the part of mpirun that runs on another host of the job. Its standard input and
 * output are the link to its parent: mpirun, or the agent that started this one. With `--agent
 * call`, the agent connects to mpirun instead, and reads mpirun's addresses from standard input. */

#include <stdbool.h>

/* Runs the agent until its link ends; does not return while the job lives. `calls`: connect to
 * mpirun, as --agent call says. Returns an exit status: 1 if the agent could not begin, with a
 * message on standard error. */
int tern_agent_run(bool calls);

#endif
