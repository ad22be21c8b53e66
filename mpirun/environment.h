/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_ENVIRONMENT_H
#define TERN_MPIRUN_ENVIRONMENT_H

/* The environment of ranks: ours, less what belongs to a job that we are part of ourselves, plus
 * what Open MPI's users count on. */

#include "mpirun/map.h"
#include "mpirun/options.h"

/* Removes from our own environment what another launcher said to us as one of its ranks, so that
 * neither our PMIx server nor our ranks believe it. */
void tern_environment_clean(void);

struct tern_environment_job {
    const struct tern_options *options;
    const struct tern_map *map;
    const char *session_dir;
    const char *node_memory; /* value of TERN_NODE_MEMORY */
    const char *node_memory_path; /* of TERN_NODE_MEMORY_PATH */
};

/* What all ranks of program `app` share. */
void tern_environment_of_app(const struct tern_environment_job *job, int app,
                             struct tern_strings *env);
/* What is one rank's own (PMIx's variables come from the server). */
void tern_environment_of_rank(const struct tern_environment_job *job, int rank,
                              struct tern_strings *env);

#endif
