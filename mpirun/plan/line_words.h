/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_LINE_WORDS_H
#define TERN_MPIRUN_PLAN_LINE_WORDS_H

/* Splits a line of a file of options into words. */

#include "mpirun/base/strings.h"

/* Adds the words of a line. Quotes keep blanks; # begins a comment. */
void tern_words_split(const char *line, struct tern_strings *words);

#endif
