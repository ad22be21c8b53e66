/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_SETTINGS_H
#define TERN_MPIRUN_PLAN_SETTINGS_H

/* Gives the values of settings to struct tern_options: those of the environment and of parameter
 * files first, then those of --tune and --am, then those of the command line. Each replaces what
 * was set before. All parameters go to the ranks, too. */

#include "mpirun/plan/words/line_options.h"

/* Takes note of an option that says where parameter files are, before any parameter is looked up.
 * Returns 0 or TERN_ERR_NO_MEM. */
int tern_settings_note_files(const struct tern_said *said);
/* Applies the parameters of the environment and of the parameter files. Returns 0 or
 * TERN_ERR_ARG. */
int tern_settings_of_environment(struct tern_options *options);
/* Applies an option of the kind TUNE or AM: reads its files, and what they set. Ignores other
 * options. Returns 0 or TERN_ERR_ARG. */
int tern_settings_of_files(const struct tern_said *said, struct tern_options *options);
/* Applies an option of the command line, to options->app if it is one of a program. Returns 0 or
 * TERN_ERR_ARG. */
int tern_settings_apply(const struct tern_said *said, struct tern_options *options);
/* Gives the variables of mca_base_env_list to all ranks. Call it when all settings were applied.
 * Returns 0 or TERN_ERR_ARG. */
int tern_settings_give_variables(struct tern_options *options);

#endif
