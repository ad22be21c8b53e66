/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/util/base/error.h"
#include "lib/util/base/text.h"
#include "mpirun/base/strings.h"

int tern_words_find(const char *word, const char *const *known)
{
    enum { SHORTEST = 3 };
    size_t length = strlen(word);
    int found = -1;
    for (int i = 0; known[i]; i++) {
        if (strcasecmp(word, known[i]) == 0)
            return i;
        if (found < 0 && length >= SHORTEST && strncasecmp(word, known[i], length) == 0)
            found = i;
    }
    return found;
}

/* Returns the distance of `word` from `known`, or from as many first letters of it. */
static int distance_from(const char *word, const char *known)
{
    char *first = tern_must_format("%.*s", (int)strlen(word), known);
    int whole = tern_text_distance(word, known), begin = tern_text_distance(word, first);
    free(first);
    return begin < whole ? begin : whole;
}

int tern_words_unknown(const char *option, const char *word, const char *const *known)
{
    char list[400] = "";
    const char *nearest = NULL;
    int used = 0, best = 1 + (int)strlen(word) / 4;
    for (int i = 0; known[i] && used < (int)sizeof list; i++) {
        int distance = distance_from(word, known[i]);
        used += snprintf(list + used, sizeof list - (size_t)used, "%s%s", i ? ", " : "", known[i]);
        if (distance <= best) {
            best = distance - 1;
            nearest = known[i];
        }
    }
    if (!*word)
        return tern_error(TERN_ERR_ARG, "%s needs a word; known are %s", option, list);
    return tern_error(TERN_ERR_ARG, "%s: there is no word \"%s\"%s%s%s known are %s", option, word,
                      nearest ? "; did you mean " : ";", nearest ? nearest : "", nearest ? "?" : "",
                      list);
}
