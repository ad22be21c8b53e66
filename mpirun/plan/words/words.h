/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_WORDS_H
#define TERN_MPIRUN_PLAN_WORDS_H

/* What the values of options consist of: words such as "map,bind", numbers, and lines of files.
 * `option` is where a value was set, for messages. */

#include <stdbool.h>
#include <stddef.h>

#include "mpirun/plan/words/options.h"

/* A word, and what it does. */
struct tern_word {
    const char *word; /* "PE=N": a value follows the word and "=" */
    size_t flag;      /* offset of the bool in struct tern_options that it sets; 0: none */
    bool off;         /* it clears the bool instead */
    /* Called with what follows "=", or with the word itself. Returns 0, TERN_ERR_ARG, or 1 if the
     * word means nothing here. */
    int (*read)(const char *option, const char *text, struct tern_options *options);
    bool keeps_commas;    /* commas belong to what follows "=" */
    bool unlisted;        /* messages do not name it */
    const char *variable; /* that all ranks get with the value 1 */
    const char *useless;  /* what to say behind "has no effect", may be ""; NULL: nothing */
};

/* A row of such a table: the word sets options->FIELD. */
#define TERN_WORD_SETS(word, field) { word, .flag = offsetof(struct tern_options, field) }

/* Applies the words of `text`, separated by a character of `between`, that are in `known`; an entry
 * without a word ends it. Upper and lower case are alike; the first three letters or more of a
 * known word stand for it. A word that sets a bool may have "=0" or "=1" behind it. Returns 0, or
 * TERN_ERR_ARG: then the message names the known words, and the one nearest to the wrong one. */
int tern_words_apply(const char *option, const char *text, const char *between,
                     const struct tern_word *known, struct tern_options *options);
/* Returns the entry of a word of `length` letters without "=", or NULL. */
const struct tern_word *tern_words_find(const char *word, size_t length,
                                        const struct tern_word *known);
/* Returns TERN_ERR_ARG with that message. `word` may be empty. */
int tern_words_unknown(const char *option, const char *word, const struct tern_word *known);

/* Reads a whole number from `least` to `most`. Returns 0 or TERN_ERR_ARG. */
int tern_words_number(const char *option, const char *text, int least, int most, int *ret_number);

/* Splits line `number` of the file `path` and adds its words. Quotes keep blanks; # begins a
 * comment. Returns 0, or TERN_ERR_ARG if a quote has no end. */
int tern_words_split(const char *path, int number, const char *line, struct tern_strings *words);

#endif
