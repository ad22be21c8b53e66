/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_JOB_FACTS_H
#define TERN_MPIRUN_PLAN_JOB_FACTS_H

/* A job as data, as known to every host that takes part. */

#include <hwloc.h>

#include "mpirun/plan/map/map.h"
#include "mpirun/plan/words/options.h"

/* A set of processors as PMIx describes it. */
struct tern_place_text {
    char *cpuset, *locality;
};

/* A job. mpirun fills it in; agents get a copy (wire/job_data.h). */
struct tern_job {
    const struct tern_options *options;
    const struct tern_host *hosts; /* those that have ranks */
    int host_count;                /* number of `hosts` */
    int here;                  /* index of this machine in `hosts`, or -1 */
    bool own_input;            /* standard input is the user's: this is mpirun, not an agent */
    hwloc_topology_t topology; /* of this machine */
    const struct tern_map *map;
    char **paths;     /* by program: its absolute path on this machine */
    char **wdirs;     /* by program: its absolute working directory */
    char token[33];   /* 32 random hexadecimal digits; names the job's directories and memory */
    char nspace[256]; /* the job's name for PMIx, which defines this size */
    /* proves on the network that a process belongs to the job; 32 bytes in hexadecimal digits */
    char secret[65];
    /* The following are of this machine and set when they exist. */
    char session_dir[600];
    char *node_memory, *node_memory_path; /* values of TERN_NODE_MEMORY and TERN_NODE_MEMORY_PATH */
    int node_memory_fd;                   /* of the memory that this node's ranks share */
    char *reports; /* the first words of TERN_REPORTS; NULL if no ranks run here */
    int reports_fd; /* the end of the report socket that ranks inherit */
    struct tern_place_text *texts; /* mpirun makes them once; all hosts have the same */
    int text_count;
    int *text_of; /* by rank: index in `texts` */
};

/* Returns the number of ranks on `host`. */
int tern_job_ranks_on(const struct tern_job *job, int host);
/* Returns the universe size: all slots, also those that the parents of a spawned job use, but at
 * least the number of ranks. */
int tern_job_universe(const struct tern_job *job);
/* Fills in texts, text_count and text_of from the hosts' processors and the map. */
void tern_job_describe_places(struct tern_job *job);

#endif
