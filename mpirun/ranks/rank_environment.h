/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_RANK_ENVIRONMENT_H
#define TERN_MPIRUN_RANKS_RANK_ENVIRONMENT_H

/* The environment of ranks: ours, less what belongs to a job that we are part of ourselves, plus
 * what Open MPI's users count on. */

#include "mpirun/plan/job_facts.h"

/* Removes from our own environment what another launcher said to us as one of its ranks, so that
 * neither our PMIx server nor our ranks believe it. */
void tern_environment_clean(void);

/* The variables of ours that ranks on other hosts get too: parameters, and what Slurm says of the
 * job. */
void tern_environment_to_send(struct tern_strings *env);

/* On such a host: sets them. What Slurm said to the step that an agent is would contradict what it
 * said to the job, whose variables are among them. */
void tern_environment_receive(const struct tern_strings *env);

/* The figures that mpirun's host and user have, and its number of cores, become variables of all
 * programs, on every host: ranks that compute different prices choose different algorithms. */
void tern_environment_add_figures(struct tern_options *options);

/* What all ranks of program `app` on this machine share. */
void tern_environment_of_app(const struct tern_job *job, int app, struct tern_strings *env);
/* What is one rank's own (PMIx's variables come from the server). */
void tern_environment_of_rank(const struct tern_job *job, int rank, struct tern_strings *env);

#endif
