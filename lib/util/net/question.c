/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(struct tern_question *question, char byte)
{
    if (question->length + 1 >= question->room && !question->failed) {
        size_t room = question->room ? 2 * question->room : 512;
        char *text = realloc(question->text, room);
        if (!text) {
            question->failed = true;
            return;
        }
        question->text = text;
        question->room = room;
    }
    if (question->failed)
        return;
    question->text[question->length++] = byte;
    question->text[question->length] = 0;
}

void tern_question_add(struct tern_question *question, const char *word, const char *value)
{
    for (; *word; word++)
        append(question, *word);
    append(question, '=');
    for (; *value; value++) {
        if (*value == '\\' || *value == '\n')
            append(question, '\\');
        append(question, (char)(*value == '\n' ? 'n' : *value));
    }
    append(question, '\n');
}

void tern_question_add_number(struct tern_question *question, const char *word, long value)
{
    char text[24];
    snprintf(text, sizeof text, "%ld", value);
    tern_question_add(question, word, text);
}

void tern_question_free(struct tern_question *question)
{
    free(question->text);
    *question = (struct tern_question){0};
}

/* Replaces \\ and \n by what they stand for. */
static void unescape(char *value)
{
    char *to = value;
    for (; *value; value++) {
        if (*value == '\\' && value[1])
            *to++ = (char)(*++value == 'n' ? '\n' : *value);
        else
            *to++ = *value;
    }
    *to = 0;
}

bool tern_question_next(char **at, char **ret_word, char **ret_value)
{
    char *end = strchr(*at, '\n'), *equals = end ? memchr(*at, '=', (size_t)(end - *at)) : NULL;
    if (!equals)
        return false;
    *equals = *end = 0;
    unescape(equals + 1);
    *ret_word = *at;
    *ret_value = equals + 1;
    *at = end + 1;
    return true;
}

char *tern_question_find(const char *text, const char *word)
{
    char *copy = strdup(text), *at = copy, *name, *value, *found = NULL;
    while (copy && !found && tern_question_next(&at, &name, &value))
        if (strcmp(name, word) == 0)
            found = strdup(value);
    free(copy);
    return found;
}
