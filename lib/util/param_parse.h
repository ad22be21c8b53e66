/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_PARSE_H
#define TERN_PARAM_PARSE_H

/* How parameters are written, in files and as values. Pure functions. */

#include "lib/util/param_table.h"

#include <stdbool.h>
#include <stdint.h>

/* Takes the next line from *rest, which is changed and moves on. False: there is none. *ret_name
 * and *ret_value lie in it; both NULL: it is empty or a comment; *ret_value NULL: it is not `name =
 * value`. One pair of quotes round a value is left out. */
bool tern_param_read_line(char **rest, char **ret_name, char **ret_value);

/* A number, a size such as 64k, or a yes or no. False: it is none, and so with TERN_PARAM_STRING.
 */
bool tern_param_read_value(enum tern_param_type type, const char *text, int64_t *ret_value);

#endif
