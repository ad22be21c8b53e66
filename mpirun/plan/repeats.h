/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_REPEATS_H
#define TERN_MPIRUN_PLAN_REPEATS_H

/* Options that are given twice with different values, of which only the last counts. */

#include "mpirun/plan/option_table.h"

/* Notes an option of the command line and its values. Warns if it replaces one that was given
 * before for the same program: -np 3 after -n 2, or --mca btl tcp after --mca btl shm. Options that
 * add to each other, such as --host, replace nothing. */
void tern_repeats_note(const struct tern_option *option, const char *word, char **values,
                       struct tern_options *options);

#endif
