/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WIRE_JOB_DATA_H
#define TERN_MPIRUN_WIRE_JOB_DATA_H

/* Packs a job for its way to another host, and a host's processors for their way to mpirun. */

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/wire/frame.h"

/* Packs what is the same on all hosts: all except here, topology, paths, session_dir and
 * node_memory. */
void tern_job_pack(const struct tern_job *job, struct tern_parcel *parcel);
/* Reads a job. Returns 0, or TERN_ERR_ARG if the data are not a job. The caller frees it with
 * tern_job_free. */
int tern_job_unpack(struct tern_reader *reader, struct tern_job *ret_job);
/* Frees a job that tern_job_unpack made. An agent keeps its job as long as it lives. */
void tern_job_free(struct tern_job *job);

/* Packs a host's name, processors and limit. */
void tern_host_pack(const struct tern_host *host, struct tern_parcel *parcel);
/* Reads them. Returns 0, or TERN_ERR_ARG if the data are not a host. The caller owns `cpus`. */
int tern_host_unpack(struct tern_reader *reader, struct tern_host *ret_host);

#endif
