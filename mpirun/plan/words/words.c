/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/settings/value.h"
#include "lib/util/base/error.h"
#include "lib/util/base/text.h"

/* ---- words of a table ---- */

const struct tern_word *tern_words_find(const char *word, size_t length,
                                        const struct tern_word *known)
{
    enum { SHORTEST = 3 };
    const struct tern_word *found = NULL;
    for (; known->word; known++) {
        if (strchr(known->word, '=') || strncasecmp(word, known->word, length))
            continue;
        if (!known->word[length])
            return known;
        if (!found && length >= SHORTEST)
            found = known;
    }
    return found;
}

/* Returns the entry of a word with "=" whose name begins `text`, or NULL. */
static const struct tern_word *find_with_value(const char *text, const struct tern_word *known)
{
    for (; known->word; known++) {
        size_t length = strcspn(known->word, "=");
        if (known->word[length] && strncasecmp(text, known->word, length + 1) == 0)
            return known;
    }
    return NULL;
}

/* Applies one word. Returns 0, TERN_ERR_ARG, or 1 if it is unknown. */
static int apply_word(const char *option, const char *word, const struct tern_word *known,
                      struct tern_options *options)
{
    const struct tern_word *entry = find_with_value(word, known);
    size_t length = strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : word;
    int64_t says = 1;
    if (!entry) {
        entry = tern_words_find(word, length, known);
        bool truth = word[length] && tern_param_read_value(TERN_PARAM_BOOL, value, &says);
        if (!entry || (word[length] && !(truth ? !entry->read : entry->useless != NULL)))
            return 1;
    }
    if (entry->flag)
        *(bool *)((char *)options + entry->flag) = entry->off != (says != 0);
    if (entry->variable)
        tern_strings_set(&options->env, entry->variable, "1");
    if (entry->useless && says)
        tern_options_warn(options, "%s %.*s has no effect%s", option, (int)length, word,
                          entry->useless);
    return entry->read ? entry->read(option, value, options) : 0;
}

int tern_words_apply(const char *option, const char *text, const char *between,
                     const struct tern_word *known, struct tern_options *options)
{
    char *copy = tern_must_copy(text), *rest = copy;
    int error = 0;
    while (!error && rest) {
        const struct tern_word *entry = find_with_value(rest, known);
        char *word = strsep(&rest, entry && entry->keeps_commas ? ":" : between);
        word += *word == ':';
        error = *word ? apply_word(option, word, known, options) : 0;
        if (error > 0)
            error = tern_words_unknown(option, word, known);
    }
    free(copy);
    return error;
}

/* Returns the distance of `word` from `known`, or from as many first letters of it. What follows
 * "=" does not count. */
static int distance_from(const char *word, const char *known)
{
    int length = (int)strcspn(word, "=");
    char *bare = tern_must_format("%.*s", length, word);
    char *first = tern_must_format("%.*s", length, known);
    int whole = tern_text_distance(bare, known), begin = tern_text_distance(bare, first);
    free(first);
    free(bare);
    return begin < whole ? begin : whole;
}

int tern_words_unknown(const char *option, const char *word, const struct tern_word *known)
{
    char list[400] = "";
    const char *nearest = NULL;
    size_t used = 0;
    int length = (int)strcspn(word, "="), best = length / 4 + (length > 2);
    for (; known->word && used < sizeof list; known++) {
        if (known->unlisted)
            continue;
        int distance = distance_from(word, known->word);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                 known->word);
        if (distance <= best) {
            best = distance - 1;
            nearest = known->word;
        }
    }
    if (!*word)
        return tern_error(TERN_ERR_ARG, "%s needs a word; known are %s", option, list);
    return tern_error(TERN_ERR_ARG, "%s: there is no word \"%s\"%s%s%s known are %s", option, word,
                      nearest ? "; did you mean " : ";", nearest ? nearest : "", nearest ? "?" : "",
                      list);
}

/* ---- numbers ---- */

int tern_words_number(const char *option, const char *text, int least, int most, int *ret_number)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end)
        return tern_error(TERN_ERR_ARG, "%s needs a number, not \"%s\"", option, text);
    if (errno || value > most)
        return tern_error(TERN_ERR_ARG, "%s %s is too large; at most %d", option, text, most);
    if (value < least)
        return tern_error(TERN_ERR_ARG, "%s %s is too small; at least %d", option, text, least);
    *ret_number = (int)value;
    return 0;
}

/* ---- lines of files ---- */

int tern_words_split(const char *path, int number, const char *line, struct tern_strings *words)
{
    int error = 0;
    char *word = tern_must_alloc(strlen(line) + 1);
    for (const char *at = line; *at;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at || *at == '#')
            break;
        int length = 0;
        char quote = '\0';
        for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
            if (quote ? *at == quote : *at == '"' || *at == '\'')
                quote = quote ? '\0' : *at;
            else
                word[length++] = *at;
        }
        word[length] = '\0';
        tern_strings_add(words, word);
        if (quote)
            error =
                tern_error(TERN_ERR_ARG,
                           "%s, line %d: the quote %c before \"%.40s\" has no end on this line; "
                           "end it, or put quotes of the other kind around it",
                           path, number, quote, word);
    }
    free(word);
    return error;
}
