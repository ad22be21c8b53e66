/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ARGUMENTS_H
#define TERN_ARGUMENTS_H

/* A growing list of words: an argument vector under construction. If memory runs out, the program
 * exits with a message. */

#include <stdbool.h>
#include <stdio.h>

/* A list of words. A zeroed struct is empty. */
struct tern_arguments {
    char **word; /* `count` words and a NULL, ready for execvp */
    int count;
};

/* Appends a word formatted as by printf. */
void tern_arguments_add(struct tern_arguments *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends the words of `text`; white space separates words. NULL means no words. */
void tern_arguments_split(struct tern_arguments *words, const char *text);

/* Appends all words of `more`. */
void tern_arguments_append(struct tern_arguments *words, const struct tern_arguments *more);

/* Prints the words on one line, each quoted for a shell if it needs that. */
void tern_arguments_print(const struct tern_arguments *words, FILE *file);

/* Frees the words. The list is empty afterwards. */
void tern_arguments_free(struct tern_arguments *words);

#endif
