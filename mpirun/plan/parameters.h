/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_PARAMETERS_H
#define TERN_MPIRUN_PLAN_PARAMETERS_H

/* Parameters, from --mca and from the environment, that mean the same as options. mpirun's own
 * parameters (`mpi_info --param launch all`) are stored for mpirun; all parameters go to the
 * ranks. */

#include "mpirun/plan/options.h"

/* Applies a parameter of the command line, or of a file that it names, and adds it to `env` as
 * PREFIX and name. `where` says where it stands, for messages. Warns if the parameter is unknown.
 * Returns 0 or TERN_ERR_ARG. */
int tern_parameter_set(const char *prefix, const char *where, const char *name, const char *value,
                       struct tern_strings *env, struct tern_options *options);
/* Warns of a word of the value, a list such as "tcp,self" or "^tcp", that is not in `list`. */
void tern_parameter_check_names(const char *origin, const char *value, const char *list,
                                struct tern_options *options);
/* Apply the files of --tune and --am (tune.h). Both return 0 or TERN_ERR_ARG. */
int tern_parameters_tune(const char *origin, const char *files, struct tern_options *options);
int tern_parameters_add_settings(const char *origin, const char *files,
                                 struct tern_options *options);
/* Applies --launch-agent. Returns 0 or TERN_ERR_*. */
int tern_parameter_set_launch_agent(const char *name, const char *value,
                                    struct tern_options *options);
/* Applies the parameters of the environment and of the parameter files. Call it before reading the
 * command line. Returns 0 or TERN_ERR_ARG. */
int tern_parameters_of_environment(struct tern_options *options);

#endif
