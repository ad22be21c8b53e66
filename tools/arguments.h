/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ARGUMENTS_H
#define TERN_ARGUMENTS_H

/* A growing list of words: an argument vector under construction. If memory runs out, the program
 * exits with a message. */

#include <stdbool.h>
#include <stdio.h>

/* A list of words. A zeroed struct is empty. */
struct tern_words {
    char **word; /* `count` words and a NULL, ready for execvp */
    int count;
};

/* Appends a word formatted as by printf. */
void tern_words_add(struct tern_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends the words of `text`; white space separates words. NULL means no words. */
void tern_words_split(struct tern_words *words, const char *text);

/* Appends all words of `more`. */
void tern_words_append(struct tern_words *words, const struct tern_words *more);

/* Prints the words on one line, each quoted for a shell if it needs that. */
void tern_words_print(const struct tern_words *words, FILE *file);

/* Frees the words. The list is empty afterwards. */
void tern_words_free(struct tern_words *words);

#endif
