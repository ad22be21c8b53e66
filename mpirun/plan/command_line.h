/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_COMMAND_LINE_H
#define TERN_MPIRUN_PLAN_COMMAND_LINE_H

/* From the words that the user typed to options. */

#include "mpirun/plan/options.h"

/* Reads the command line and the environment's OMPI_MCA_ settings. 0: go on. 1: done (help,
 * version). TERN_ERR_ARG: a sentence has been said. The strings stay the caller's; the options are
 * to be freed in any case. */
int tern_options_parse(int argc, char **argv, struct tern_options *ret_options);
void tern_options_free(struct tern_options *options);

#endif
