/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_VALUES_H
#define TERN_PARAM_VALUES_H

/* The values that a parameter may have: its range, or its choices. Pure functions. */

#include "lib/util/param_table.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns true if `text` is a value of the parameter: a number in its range, a yes or no, or one of
 * its choices. A string without choices may be any text. */
bool tern_param_allows(const struct tern_param *param, const char *text);

/* Writes which values the parameter may have, such as "a whole number from 1 to 8". */
void tern_param_describe_values(const struct tern_param *param, char *text, size_t room);

/* Returns the index of the choice with the spelling `text`, whatever the case, or -1. `param` may
 * be one without choices. */
int tern_param_index_of_choice(const struct tern_param *param, const char *text);

/* Writes the first spelling of choice `index`, cut to `room` bytes including the closing 0. Returns
 * false if there are fewer choices. */
bool tern_param_choice_name(const struct tern_param *param, int index, char *name, size_t room);

#endif
