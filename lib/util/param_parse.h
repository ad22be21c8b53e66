/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_PARSE_H
#define TERN_PARAM_PARSE_H

/* The syntax of parameters, in files and as values. Pure functions. */

#include "lib/util/param_table.h"

#include <stdbool.h>
#include <stdint.h>

/* Takes the next line from *rest; changes the text and moves *rest behind the line. Returns false
 * if no line is left. *ret_name and *ret_value point into the text. Both are NULL if the line is
 * empty or a comment. Only *ret_value is NULL if the line is not `name = value`. One pair of quotes
 * around a value is removed. */
bool tern_param_read_line(char **rest, char **ret_name, char **ret_value);

/* Reads a number, a size such as 64k, or a yes or no. Returns false if `text` is not a value of
 * `type`, and always for TERN_PARAM_STRING. */
bool tern_param_read_value(enum tern_param_type type, const char *text, int64_t *ret_value);

#endif
