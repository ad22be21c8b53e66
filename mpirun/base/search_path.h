/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_BASE_SEARCH_PATH_H
#define TERN_MPIRUN_BASE_SEARCH_PATH_H

/* Looks for programs in lists of directories as in $PATH: colons separate them. */

#include <stdbool.h>

/* Returns true if the file exists and this process may execute it. */
bool tern_path_is_program(const char *path);

/* Returns the absolute path of the program `name` in the first directory that has it, or NULL. The
 * caller frees it. Directories are relative to `wdir`. If *unusable is NULL, it gets the first file
 * of this name that cannot be executed; the caller frees it, too. */
char *tern_path_search(const char *directories, const char *wdir, const char *name,
                       char **unusable);

/* Returns the path of the program `name` in the first directory that has it, or NULL. The caller
 * frees it. */
char *tern_path_find(const char *directories, const char *name);

#endif
