/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/arguments.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void take(struct tern_arguments *words, char *word)
{
    char **grown = word ? realloc(words->word, (size_t)(words->count + 2) * sizeof *grown) : NULL;
    if (!grown) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    words->word = grown;
    words->word[words->count++] = word;
    words->word[words->count] = NULL;
}

void tern_arguments_add(struct tern_arguments *words, const char *format, ...)
{
    char *word = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&word, format, arguments) < 0) {
        word = NULL;
    }
    va_end(arguments);
    take(words, word);
}

void tern_arguments_split(struct tern_arguments *words, const char *text)
{
    static const char space[] = " \t\r\n";

    text = text ? text + strspn(text, space) : "";
    while (*text) {
        size_t length = strcspn(text, space);
        take(words, strndup(text, length));
        text += length;
        text += strspn(text, space);
    }
}

void tern_arguments_append(struct tern_arguments *words, const struct tern_arguments *more)
{
    for (int i = 0; i < more->count; i++) {
        take(words, strdup(more->word[i]));
    }
}

static void print_quoted(const char *word, FILE *file)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_^~";

    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, file);
        return;
    }
    putc('\'', file);
    for (; *word; word++) {
        if (*word == '\'') {
            fputs("'\\''", file);
        } else {
            putc(*word, file);
        }
    }
    putc('\'', file);
}

void tern_arguments_print(const struct tern_arguments *words, FILE *file)
{
    for (int i = 0; i < words->count; i++) {
        if (i > 0) {
            putc(' ', file);
        }
        print_quoted(words->word[i], file);
    }
    putc('\n', file);
}

void tern_arguments_free(struct tern_arguments *words)
{
    for (int i = 0; i < words->count; i++) {
        free(words->word[i]);
    }
    free(words->word);
    *words = (struct tern_arguments){NULL, 0};
}
