/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_NAMES_H
#define TERN_PARAM_NAMES_H

/* Which names of parameters are known, and which one a misspelt name may stand for. Pure functions.
 */

#include <stdbool.h>

/* Returns true if `name` is one of our parameters, or Open MPI's other name of one. */
bool tern_param_known(const char *name);
/* Returns true if `name` is one of Open MPI's that has no meaning here and is accepted without a
 * word (by its first word: btl, coll, orte, ...). Returns false if it is so near to one of ours
 * that this one was probably meant. */
bool tern_param_accepted(const char *name);
/* Returns the known name with the smallest edit distance to `name`, or NULL if none is near. */
const char *tern_param_nearest(const char *name);

/* Returns the edit distance (Damerau-Levenshtein, case ignored) of two words; also used for names
 * of options. */
int tern_edit_distance(const char *a, const char *b);

#endif
