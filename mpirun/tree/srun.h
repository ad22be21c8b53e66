/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_SRUN_H
#define TERN_MPIRUN_TREE_SRUN_H

/* Starts agents in a Slurm job: one srun starts them all, and they connect to mpirun. */

#include "mpirun/plan/hosts/host_list.h"
#include "mpirun/tree/agents.h"

/* Starts srun for all hosts of the list except `here` (-1: for all). tern_agents reports each agent
 * as up or failed, later. tern_agents_end waits for srun, and kills it if needed. `said` gets what
 * srun and the agents write to standard error after tern_srun_settle. All arguments must live as
 * long as the process. Call it before there are threads. Returns 0 or TERN_ERR_*. */
int tern_srun_start(const struct tern_launch *launch, const struct tern_host_list *list, int here,
                    void (*said)(const char *line));
/* Closes the port. Call it when all agents have connected, or no more are expected. Harmless if
 * srun is not used. */
void tern_srun_settle(void);

#endif
