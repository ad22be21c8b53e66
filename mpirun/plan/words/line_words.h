/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_LINE_WORDS_H
#define TERN_MPIRUN_PLAN_LINE_WORDS_H

/* Splits a line of a file of options into words. */

#include "mpirun/base/strings.h"

/* Adds the words of line `number` of the file `path`. Quotes keep blanks; # begins a comment.
 * Returns 0, or TERN_ERR_ARG if a quote has no end. */
int tern_words_split(const char *path, int number, const char *line, struct tern_strings *words);

#endif
