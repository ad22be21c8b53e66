/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/line_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/base/error.h"

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
