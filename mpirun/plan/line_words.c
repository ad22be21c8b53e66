/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/line_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void tern_words_split(const char *line, struct tern_strings *words)
{
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
    }
    free(word);
}
