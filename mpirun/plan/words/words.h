/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_WORDS_H
#define TERN_MPIRUN_PLAN_WORDS_H

/* Words that an option takes as its value. `known` lists them; NULL ends it. */

/* Returns the place of `word` in `known`, or -1. Upper and lower case are alike; the first three
 * letters or more of a known word stand for it. */
int tern_words_find(const char *word, const char *const *known);
/* Returns TERN_ERR_ARG. The message names the known words, and the one nearest to `word`, which may
 * be empty. */
int tern_words_unknown(const char *option, const char *word, const char *const *known);

#endif
