/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_HELP_H
#define TERN_MPIRUN_PLAN_HELP_H

/* Writes the text of --help to standard output. */
void tern_help_print(void);

#endif
