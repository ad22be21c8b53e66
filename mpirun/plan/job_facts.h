/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_JOB_FACTS_H
#define TERN_MPIRUN_PLAN_JOB_FACTS_H

/* A job, as every host that takes part in it knows it: data. */

#include <hwloc.h>

#include "mpirun/plan/map.h"
#include "mpirun/plan/options.h"

/* Where ranks may run, in PMIx's words. */
struct tern_place_text {
    char *cpuset, *locality;
};

struct tern_job {
    const struct tern_options *options;
    const struct tern_host *hosts; /* those that have ranks */
    int host_count;
    int here;                  /* this machine among them, or -1 */
    hwloc_topology_t topology; /* of this machine */
    const struct tern_map *map;
    char **paths;     /* absolute, of each program; on this machine */
    char **wdirs;     /* absolute, of each program */
    char token[33];   /* names the job's directories and memory */
    char nspace[256]; /* and itself to PMIx, which wants this size */
    char secret[65];  /* proves on the network who belongs to it; 32 bytes in hexadecimal digits */
    /* on this machine, once they are there: */
    char session_dir[600];
    char *node_memory, *node_memory_path; /* values of TERN_NODE_MEMORY and TERN_NODE_MEMORY_PATH */
    int node_memory_fd;
    char *reports; /* the first words of TERN_REPORTS; NULL: no ranks here */
    int reports_fd; /* what ranks inherit of it */
    struct tern_place_text *texts; /* made once, by mpirun: the same on all hosts */
    int text_count;
    int *text_of; /* by rank */
};

/* How many ranks `host` has. */
int tern_job_ranks_on(const struct tern_job *job, int host);
/* Slots in all. */
int tern_job_universe(const struct tern_job *job);
/* Fills texts and text_of, from the hosts' processors and the map. */
void tern_job_describe_places(struct tern_job *job);

#endif
