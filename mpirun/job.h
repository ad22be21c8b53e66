/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_JOB_H
#define TERN_MPIRUN_JOB_H

/* A job from its start to its end. */

#include <hwloc.h>

#include "mpirun/map.h"
#include "mpirun/options.h"

struct tern_job {
    const struct tern_options *options;
    const struct tern_host *host;
    hwloc_topology_t topology;
    const struct tern_map *map;
    char **paths; /* absolute, of each program */
    char **wdirs; /* absolute, of each program */
};

/* Runs the job; returns mpirun's exit status. */
int tern_job_run(const struct tern_job *job);

#endif
