/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_NAMES_H
#define TERN_PARAM_NAMES_H

/* Known names of parameters, and guesses for misspelt ones. Pure functions. */

#include "lib/util/param_table.h"

#include <stdbool.h>

/* Returns the parameter with this name or this Open MPI alias, or NULL. */
const struct tern_param *tern_param_find_known(const char *name);
/* Returns true if `name` is one of our parameters or an Open MPI alias of one. */
bool tern_param_known(const char *name);
/* Returns true if `name` is an Open MPI parameter that has no meaning here and is accepted
 * silently. Its first word decides: btl, coll, orte, ... Returns false if `name` is so similar to
 * one of our names that ours was probably meant. */
bool tern_param_accepted(const char *name);
/* Returns the known name with the smallest edit distance to `name`, or NULL if none is near. */
const char *tern_param_nearest(const char *name);

/* Returns the edit distance (Damerau-Levenshtein, case ignored) of two words; also used for names
 * of options. */
int tern_edit_distance(const char *a, const char *b);

#endif
