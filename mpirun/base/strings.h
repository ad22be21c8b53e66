/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_BASE_STRINGS_H
#define TERN_MPIRUN_BASE_STRINGS_H

/* Growing lists of strings, such as argv and environ. A NULL follows the last string as soon as the
 * list has had one. A zeroed struct is an empty list. If memory runs out, mpirun exits with a
 * message: either nothing has been started yet, or the guardian cleans up. */

#include <stdbool.h>
#include <stddef.h>

/* A list of strings. */
struct tern_strings {
    char **items; /* owned; NULL if nothing was ever added */
    int count, room; /* strings in the list; allocated size of `items` */
};

/* Allocate, or exit with a message if memory runs out. The caller frees the result. */
void *tern_must_alloc(size_t bytes); /* zeroed */
void *tern_must_grow(void *old, size_t bytes);
char *tern_must_copy(const char *text);
char *tern_must_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Appends a copy of `text`. */
void tern_strings_add(struct tern_strings *list, const char *text);
/* Appends `text` itself. The list owns the string from now on. */
void tern_strings_take(struct tern_strings *list, char *text);
/* Appends a string formatted as by printf. */
void tern_strings_format(struct tern_strings *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets an environment entry: replaces the first entry of that name by "NAME=VALUE", or appends
 * one. */
void tern_strings_set(struct tern_strings *list, const char *name, const char *value);
/* Returns the value of the first entry "NAME=VALUE", or NULL if there is none. Owner: the list. */
const char *tern_strings_value(const struct tern_strings *list, const char *name);
/* Appends a copy of each word of `text`; characters of `between`, such as " \t", separate words. If
 * `text` is NULL, there are none. */
void tern_strings_add_words(struct tern_strings *list, const char *text, const char *between);
/* Frees all strings. The list is empty afterwards. */
void tern_strings_free(struct tern_strings *list);

#endif
