/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_HELP_H
#define TERN_MPIRUN_PLAN_HELP_H

/* Writes the text of --help to standard output. `topic` is one of Open MPI's topics (mapping,
 * output, ...) or an option: then only the lines about it are written. NULL: all. If there is
 * nothing of that name, says so on standard error, and writes all. */
void tern_help_print(const char *topic);

#endif
