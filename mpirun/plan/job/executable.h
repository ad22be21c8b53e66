/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_EXECUTABLE_H
#define TERN_MPIRUN_PLAN_EXECUTABLE_H

/* Finds the program that a name on the command line means. */

#include "mpirun/plan/words/options.h"

/* mpirun's exit statuses, as a shell has them. */
enum { TERN_EXIT_NOT_FOUND = 127, TERN_EXIT_NOT_EXECUTABLE = 126 };

/* Finds the program of `app`. Sets *ret_path to an absolute path, which the caller frees. `wdir` is
 * the absolute directory in which the program will run. Returns 0, or mpirun's exit status, with
 * the reason in tern_error_text(TERN_ERR_ARG). */
int tern_program_find(const struct tern_app *app, const char *wdir, char **ret_path);

#endif
