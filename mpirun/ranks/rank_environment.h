/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_RANK_ENVIRONMENT_H
#define TERN_MPIRUN_RANKS_RANK_ENVIRONMENT_H

/* The environment of ranks: mpirun's own, without the variables of a job that mpirun itself is part
 * of, plus the variables that Open MPI's users rely on. */

#include "mpirun/plan/job/job_facts.h"

/* Removes from mpirun's own environment the variables that another launcher set for mpirun as one
 * of its ranks. Otherwise mpirun's PMIx server and ranks would believe them. */
void tern_environment_clean(void);

/* Adds the variables of mpirun that ranks on other hosts get too: parameters, and Slurm's
 * description of the job. */
void tern_environment_to_send(struct tern_strings *env);

/* On another host: sets these variables. Removes the agent's own SLURM_ variables first, because
 * those describe the agent's step and would contradict the job's. */
void tern_environment_receive(const struct tern_strings *env);

/* Adds this host's and user's measured figures, and the number of cores, to the variables of all
 * programs. All hosts must get the same: ranks that compute different prices would choose different
 * algorithms. */
void tern_environment_add_figures(struct tern_options *options);

/* Adds the variables that all ranks of program `app` on this machine share. */
void tern_environment_of_app(const struct tern_job *job, int app, struct tern_strings *env);
/* Adds the variables of one rank. PMIx's own come from tern_server_add_environment. */
void tern_environment_of_rank(const struct tern_job *job, int rank, struct tern_strings *env);

#endif
