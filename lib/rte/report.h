/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RTE_REPORT_H
#define TERN_RTE_REPORT_H

/* What a rank says to our launcher where nothing else is wanted of it: in a job of one host (lib/util/launcher.h). */

#include <stdbool.h>

/* Did our launcher start this process so? Then who it is stands in tern_rte. False: PMIx must be asked. */
bool tern_report_learn(void);

/* In MPI from now on, until tern_report_close. False: the launcher cannot be reached in this way. */
bool tern_report_open(void);
/* Is it, in this way? */
bool tern_report_is_open(void);
/* Awaits all others in MPI_Init. */
void tern_report_world(void);
void tern_report_close(void);

/* The launcher ends the job, and this process with it. Returns only if the launcher has gone. */
void tern_report_abort(int status);

#endif
