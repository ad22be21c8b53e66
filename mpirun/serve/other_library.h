/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_OTHER_LIBRARY_H
#define TERN_MPIRUN_SERVE_OTHER_LIBRARY_H

/* Warns once per job if ranks load an MPI library other than the one of this mpirun. A program
 * built with Open MPI finds Tern's libmpi only if the dynamic linker is directed to it. If not, the
 * program runs on the other library; if that library cannot talk to this mpirun, each process
 * becomes a job of one rank. */

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/serve/clients.h"

/* Prepares for the job. Call it before the PMIx server starts. The caller owns `job`, which must
 * live as long as the process. */
void tern_foreign_open(const struct tern_job *job, const struct tern_client_listener *listener);
/* Call it when the ranks of this host have been started. Looks at the programs now, and a few times
 * later at ranks that have not reported. */
void tern_foreign_start(void);
/* Call it when a rank reports: its program has loaded Tern's library. */
void tern_foreign_reported(int rank);

/* Call it on PMIx's thread when a rank connects by PMIx and waits for the answer. Reads /proc.
 * Returns a warning, which the caller frees, or NULL. */
char *tern_foreign_connected(int rank);

#endif
