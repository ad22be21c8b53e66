/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_SETTINGS_H
#define TERN_MPIRUN_PLAN_SETTINGS_H

/* Gives the values of settings to struct tern_options, the weakest source first: each replaces what
 * was set before. All parameters go to the ranks, too. */

#include "mpirun/plan/words/line_options.h"

/* Applies all settings: the parameters of the environment, those of the parameter files, what
 * --tune and --am of the line read, and the options of the line with their programs. Returns 0, 1
 * if help or version was printed, or TERN_ERR_ARG. */
int tern_settings_apply(const struct tern_options_line *line, struct tern_options *options);

#endif
