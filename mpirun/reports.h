/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_REPORTS_H
#define TERN_MPIRUN_REPORTS_H

/* What Tern's ranks say of themselves in a job of one host, instead of by PMIx (lib/util/launcher.h). On mpirun's loop. */

#include "mpirun/job.h"
#include "mpirun/server.h"

/* *ret_ranks_end is to be inherited by the ranks, and the caller's to close. 0 or TERN_ERR_OTHER. */
int tern_reports_open(const struct tern_job *job, const struct tern_server_listener *listener, int *ret_ranks_end);
/* Tells the listener what has come so far: all that a rank said before it ended, if its end is known. */
void tern_reports_read(void);

#endif
