/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_OTHER_LIBRARY_H
#define TERN_MPIRUN_SERVE_OTHER_LIBRARY_H

/*
 * Warns once in a job of ranks that load another MPI library than this mpirun's. A program that
 * Open MPI built finds Tern's libmpi only if the dynamic linker is led to it; if not it runs on the
 * other library, or, with a library that cannot talk to us, as so many jobs of one rank.
 */

#include "mpirun/plan/job_facts.h"
#include "mpirun/serve/clients.h"

/* Before the PMIx server starts. `job` stays the caller's and must live as long as the process. */
void tern_foreign_open(const struct tern_job *job, const struct tern_client_listener *listener);
/* The ranks of this host have been started. Looks at the programs, and from time to time at ranks
 * that do not report. */
void tern_foreign_start(void);
/* The rank's program has Tern's library: it reports. */
void tern_foreign_reported(int rank);

/* A rank connects by PMIx and waits for the answer. Returns what to warn of, malloc'ed, or NULL.
 * Reads /proc; called by PMIx's thread. */
char *tern_foreign_connected(int rank);

#endif
