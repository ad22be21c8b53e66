/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_PARAMETERS_H
#define TERN_MPIRUN_PLAN_PARAMETERS_H

/* Parameters, of --mca and of the environment, that say what options say; mpirun's own (`mpi_info
 * --param launch all`) are written, and all go to the ranks. */

#include "mpirun/plan/options.h"

/* Applies one of the command line, and adds it to `env` with the prefix before its name. Warns if
 * nobody knows it. 0 or TERN_ERR_ARG. */
int tern_parameter_set(const char *prefix, const char *name, const char *value,
                       struct tern_strings *env, struct tern_options *options);
/* Applies --launch-agent and the parameter that says the same. 0 or TERN_ERR_*. */
int tern_parameter_set_launch_agent(const char *name, const char *value,
                                    struct tern_options *options);
/* Applies those of the environment, before the command line is read. 0 or TERN_ERR_ARG. */
int tern_parameters_of_environment(struct tern_options *options);

#endif
