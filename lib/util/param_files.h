/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_FILES_H
#define TERN_PARAM_FILES_H

/* The files of parameters (lib/util/param.h says which), read when the first value is wanted.
 * Private to lib/util/param.c. */

#include <stdbool.h>

/* A line of a file. */
struct tern_param_setting {
    struct tern_param_setting *next;
    char *name, *value;
    const char *file;
    bool complained; /* its value cannot be read, and that was said */
};

/* Returns the setting of `name` in the first file that has one, or NULL. Owner: this file, for as
 * long as the process lives. */
struct tern_param_setting *tern_param_file_setting(const char *name);

/* Returns true if this process says what is wrong with parameters. All ranks of a job see the same
 * wrong value, so only rank 0 speaks, or a process without a rank. */
bool tern_param_may_speak(void);

#endif
