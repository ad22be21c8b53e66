/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_SRUN_H
#define TERN_MPIRUN_TREE_SRUN_H

/* Agents by Slurm: one srun starts them all, and they call mpirun. */

#include "mpirun/plan/host_list.h"
#include "mpirun/tree/agents.h"

/* Starts srun for all hosts of the list but `here`; tern_agents tells up or failed of each, later.
 * tern_agents_end waits for srun, and kills it in the end. `said` gets what srun and agents write
 * on standard error once all have come. All must live on. Before there are threads. 0 or
 * TERN_ERR_OTHER. */
int tern_srun_start(const struct tern_launch *launch, const struct tern_host_list *list, int here,
                    void (*said)(const char *line));
/* All have come, or no more are awaited: the port is closed. */
void tern_srun_settle(void);

#endif
