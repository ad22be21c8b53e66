/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_BASE_STRINGS_H
#define TERN_MPIRUN_BASE_STRINGS_H

/* Growing lists of strings, always ended by NULL once something was added: argv and environ.
 * Running out of memory ends mpirun (nothing has been started, or the guardian cleans up). A zeroed
 * struct is an empty list. */

#include <stdbool.h>
#include <stddef.h>

struct tern_strings {
    char **items; /* NULL while empty */
    int count, room;
};

/* Memory that is there, or the end. */
void *tern_must_alloc(size_t bytes); /* zeroed */
void *tern_must_grow(void *old, size_t bytes);
char *tern_must_copy(const char *text);
char *tern_must_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Adds a copy. */
void tern_strings_add(struct tern_strings *list, const char *text);
/* Adds `text`, taking it over. */
void tern_strings_take(struct tern_strings *list, char *text);
void tern_strings_format(struct tern_strings *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "NAME=VALUE": replaces the entry of that name, or adds one. */
void tern_strings_set(struct tern_strings *list, const char *name, const char *value);
/* The value of NAME, or NULL. */
const char *tern_strings_value(const struct tern_strings *list, const char *name);
/* Copies of the words of `text`, which may be NULL. */
void tern_strings_add_words(struct tern_strings *list, const char *text);
void tern_strings_free(struct tern_strings *list);

#endif
