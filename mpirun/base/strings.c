/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/base/strings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/base/log.h"

static void *checked(void *memory)
{
    if (!memory) {
        tern_log("out of memory");
        exit(1);
    }
    return memory;
}

void *tern_must_alloc(size_t bytes)
{
    return checked(calloc(1, bytes ? bytes : 1));
}

void *tern_must_grow(void *old, size_t bytes)
{
    return checked(realloc(old, bytes ? bytes : 1));
}

char *tern_must_copy(const char *text)
{
    return checked(strdup(text));
}

static char *format_list(const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    return checked(text);
}

char *tern_must_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_list(format, args);
    va_end(args);
    return text;
}

void tern_strings_take(struct tern_strings *list, char *text)
{
    if (list->count + 2 > list->room) {
        list->room = list->room ? 2 * list->room : 16;
        list->items = tern_must_grow(list->items, list->room * sizeof *list->items);
    }
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

void tern_strings_add(struct tern_strings *list, const char *text)
{
    tern_strings_take(list, tern_must_copy(text));
}

void tern_strings_format(struct tern_strings *list, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tern_strings_take(list, format_list(format, args));
    va_end(args);
}

static int find(const struct tern_strings *list, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < list->count; i++) {
        if (strncmp(list->items[i], name, length) == 0 && list->items[i][length] == '=')
            return i;
    }
    return -1;
}

void tern_strings_set(struct tern_strings *list, const char *name, const char *value)
{
    char *entry = tern_must_format("%s=%s", name, value);
    int at = find(list, name);
    if (at < 0) {
        tern_strings_take(list, entry);
    } else {
        free(list->items[at]);
        list->items[at] = entry;
    }
}

const char *tern_strings_value(const struct tern_strings *list, const char *name)
{
    int at = find(list, name);
    return at < 0 ? NULL : list->items[at] + strlen(name) + 1;
}

void tern_strings_free(struct tern_strings *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct tern_strings){ 0 };
}

void tern_strings_add_words(struct tern_strings *list, const char *text, const char *between)
{
    char *copy = tern_must_copy(text ? text : ""), *rest = copy, *word;
    while ((word = strsep(&rest, between))) {
        if (*word)
            tern_strings_add(list, word);
    }
    free(copy);
}
