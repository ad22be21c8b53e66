/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WIRE_JOB_DATA_H
#define TERN_MPIRUN_WIRE_JOB_DATA_H

/* A job on its way to another host, and a host's processors on theirs to mpirun. */

#include "mpirun/plan/job_facts.h"
#include "mpirun/wire/frame.h"

/* All but what is different on each host: here, topology, paths, session_dir, node_memory. */
void tern_job_pack(const struct tern_job *job, struct tern_parcel *parcel);
/* TERN_ERR_ARG: it is none. */
int tern_job_unpack(struct tern_reader *reader, struct tern_job *ret_job);
/* What tern_job_unpack has made; an agent keeps it as long as it lives. */
void tern_job_free(struct tern_job *job);

void tern_host_pack(const struct tern_host *host, struct tern_parcel *parcel);
int tern_host_unpack(struct tern_reader *reader, struct tern_host *ret_host);

#endif
