/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SETTINGS_FILES_H
#define TERN_SETTINGS_FILES_H

/* The parameter files (lib/settings/param.h lists them), read when the first value is needed. */

#include <stdbool.h>

/* A line of a file. */
struct tern_param_line {
    struct tern_param_line *next;
    char *name, *value;
    const char *file;
    int line; /* counted from 1 */
};

/* Returns the setting of `name` in the first file that has one, or NULL. The result lives as long
 * as the process; do not free it. */
struct tern_param_line *tern_param_file_line(const char *name);

/* Returns the settings of all files, linked by `next`, or NULL. Like tern_param_file_line. */
struct tern_param_line *tern_param_file_lines(void);

#endif
