/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_WHOLE_FILE_H
#define TERN_MPICHECK_WHOLE_FILE_H

/* Whether all that was written has arrived in its file. */

#include <stdbool.h>
#include <stdio.h>

/* Closes a file that was written; `file` is NULL if it could not be opened. Returns false after a
 * message if the file is not whole. */
bool tern_mc_end_file(FILE *file, const char *path);

/* Returns false after a message if not all reached standard output. */
bool tern_mc_output_is_whole(void);

#endif
