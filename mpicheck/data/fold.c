/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/data/fold.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/base/log.h"

/* A name: what stands before its last number, the number, and what follows. */
struct parts {
    const char *name;
    int before;   /* length */
    int digits;   /* length of the number; 0: there is none */
    int width;    /* of a number with leading zeros; else 0 */
    long number;
};

static _Noreturn void no_memory(void)
{
    tern_log("no memory");
    exit(3);
}

void *tern_mc_alloc(long count, long size)
{
    void *memory = calloc((size_t)(count > 0 ? count : 1), (size_t)size);
    if (!memory)
        no_memory();
    return memory;
}

void *tern_mc_grow(void *list, int count, size_t size)
{
    if (count > 0 && (count & (count - 1)))
        return list; /* there is room up to the next power of two */
    void *grown = realloc(list, (count > 0 ? (size_t)count * 2 : 1) * size);
    if (!grown)
        no_memory();
    return grown;
}

char *tern_mc_format(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        no_memory();
    return text;
}

static struct parts split(const char *name)
{
    struct parts parts = {.name = name};
    int end = (int)strlen(name);
    while (end > 0 && !isdigit((unsigned char)name[end - 1]))
        end--;
    int begin = end;
    while (begin > 0 && isdigit((unsigned char)name[begin - 1]) && end - begin < 15)
        begin--;
    parts.before = begin;
    parts.digits = end - begin;
    if (parts.digits > 0)
        parts.number = strtol(name + begin, NULL, 10);
    if (parts.digits > 1 && name[begin] == '0')
        parts.width = parts.digits;
    return parts;
}

static const char *behind(const struct parts *parts)
{
    return parts->name + parts->before + parts->digits;
}

static int compare_kind(const struct parts *a, const struct parts *b)
{
    int least = a->before < b->before ? a->before : b->before;
    int order = strncmp(a->name, b->name, (size_t)least);
    if (order == 0)
        order = a->before - b->before;
    if (order == 0)
        order = (a->digits > 0) - (b->digits > 0);
    return order ? order : strcmp(behind(a), behind(b));
}

static int compare_parts(const void *x, const void *y)
{
    const struct parts *a = x, *b = y;
    int order = compare_kind(a, b);
    if (order == 0)
        order = (a->number > b->number) - (a->number < b->number);
    return order ? order : a->width - b->width;
}

/* Returns true if `next` continues a range that `last` ends: 09 is followed by 10, 9 by 10. */
static bool follows(const struct parts *last, const struct parts *next)
{
    bool alike = last->width == next->width || (last->width == next->digits && !next->width);
    return next->number == last->number + 1 && alike;
}

static int print_range(FILE *out, const struct parts *first, const struct parts *last)
{
    fprintf(out, "%.*s", first->digits, first->name + first->before);
    if (last != first)
        fprintf(out, "-%.*s", last->digits, last->name + last->before);
    return 0;
}

/* Prints the names of one kind: a prefix, ranges of numbers, what follows. */
static void print_kind(FILE *out, const struct parts *parts, int count)
{
    const struct parts *end = parts + count;
    if (count == 1 || parts->digits == 0) {
        fputs(parts->name, out);
        return;
    }
    fprintf(out, "%.*s[", parts->before, parts->name);
    for (const struct parts *first = parts, *last; first < end; first = last + 1) {
        last = first;
        while (last + 1 < end && follows(last, last + 1))
            last++;
        if (first != parts)
            fputc(',', out);
        print_range(out, first, last);
    }
    fprintf(out, "]%s", behind(parts));
}

static char *cut(char *text, int most, int count)
{
    int length = (int)strlen(text);
    if (most <= 0 || length <= most)
        return text;
    int end = most;
    while (end > 0 && text[end] != ',' && text[end] != '-')
        end--;
    bool open = memrchr(text, '[', (size_t)end) > memrchr(text, ']', (size_t)end);
    char *made = tern_mc_format("%.*s%s, ... (%d in all)", end, text, open ? "]" : "", count);
    free(text);
    return made;
}

char *tern_mc_fold(const char *const *names, int count, int most)
{
    struct parts *parts = tern_mc_alloc(count, sizeof *parts);
    char *text = NULL;
    size_t length;
    int unique = 0;
    for (int i = 0; i < count; i++)
        parts[i] = split(names[i]);
    qsort(parts, (size_t)count, sizeof *parts, compare_parts);
    for (int i = 0; i < count; i++)
        if (i == 0 || strcmp(parts[i].name, parts[unique - 1].name))
            parts[unique++] = parts[i];
    FILE *out = open_memstream(&text, &length);
    if (!out)
        no_memory();
    for (int first = 0, end; first < unique; first = end) {
        end = first + 1;
        while (end < unique && compare_kind(&parts[first], &parts[end]) == 0)
            end++;
        if (first > 0)
            fputc(',', out);
        print_kind(out, parts + first, end - first);
    }
    fclose(out);
    free(parts);
    return cut(text, most, unique);
}
