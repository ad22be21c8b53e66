/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_VALUE_H
#define TERN_VALUE_H

/* The syntax of settings, in files and as values; and the values that a setting may have: its
 * range, or its choices. Pure functions. */

#include "lib/settings/setting.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes the next line from *rest; changes the text and moves *rest behind the line. Returns false
 * if no line is left. *ret_name and *ret_value point into the text. Both are NULL if the line is
 * empty or a comment. Only *ret_value is NULL if the line is not `name = value`. One pair of quotes
 * around a value is removed. */
bool tern_param_read_line(char **rest, char **ret_name, char **ret_value);

/* Reads a number, a size such as 64k, or a yes or no. Returns false if `text` is not a value of
 * `type`, and always for TERN_PARAM_STRING. */
bool tern_param_read_value(enum tern_param_type type, const char *text, int64_t *ret_value);

/* Returns true if `text` is a value of the parameter: a number in its range, a yes or no, or one of
 * its choices. A string without choices may be any text. */
bool tern_param_allows(const struct tern_setting *param, const char *text);

/* Writes which values the parameter may have, such as "a whole number from 1 to 8". `not`: a value
 * that it may not have, of which a list of pairs says where it is wrong; or NULL. */
void tern_param_describe_values(const struct tern_setting *param, const char *not, char *text,
                                size_t room);

/* A word NAME:VALUE of a list of pairs. */
struct tern_param_pair {
    const struct tern_setting *param; /* the parameter it sets; NULL: there is none */
    char name[64], value[64];
};
/* Reads the next pair of *rest, which it moves on. Returns false if no pair is left. */
bool tern_param_next_pair(const struct tern_setting *list, const char **rest,
                          struct tern_param_pair *ret_pair);

/* Returns the index of the choice with the spelling `text`, whatever the case, or -1. `param` may
 * be one without choices. */
int tern_param_index_of_choice(const struct tern_setting *param, const char *text);

/* Returns true if `text` is a choice that is no more. Then writes the one that is used instead. */
bool tern_param_former_choice(const struct tern_setting *param, const char *text, char *ret_used,
                              size_t room);

/* Writes the first spelling of choice `index`, cut to `room` bytes including the closing 0. Returns
 * false if there are fewer choices. */
bool tern_param_choice_name(const struct tern_setting *param, int index, char *name, size_t room);

#endif
