/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_EXECUTABLE_H
#define TERN_MPIRUN_PLAN_EXECUTABLE_H

/* Where the program is that a name on the command line means. */

#include "mpirun/plan/options.h"

enum { TERN_EXIT_NOT_FOUND = 127, TERN_EXIT_NOT_EXECUTABLE = 126 };

/* Finds the program of `app`; *ret_path is an absolute path, malloc'ed. `wdir` is the absolute
 * directory it will run in. 0, or the exit status for mpirun with the sentence in
 * tern_error_text(TERN_ERR_ARG). */
int tern_program_find(const struct tern_app *app, const char *wdir, char **ret_path);
/* The program of that name in the first of some directories, separated by colons as in $PATH, that
 * has it; malloc'ed. NULL: none. */
char *tern_program_in(const char *directories, const char *name);

#endif
