/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_COMMAND_LINE_H
#define TERN_MPIRUN_PLAN_COMMAND_LINE_H

/* Turns the words of the command line into options. */

#include "mpirun/plan/words/options.h"

/* Reads the command line and the OMPI_MCA_ variables of the environment. `separator` stands between
 * two programs: ":" on a user's command line. Returns 0 if the job shall run, 1 if help or version
 * was printed, TERN_ERR_ARG after an error message was written. The options point into argv and the
 * separator, which must outlive them. Call tern_options_free whatever the result. */
int tern_options_parse(int argc, char **argv, const char *separator,
                       struct tern_options *ret_options);

#endif
