/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *tern_read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    if (!file)
        return NULL;
    bool nothing = getdelim(&text, &room, '\0', file) < 0;
    int failed = nothing && !feof(file) ? errno : 0;
    fclose(file);
    if (!nothing)
        return text;
    free(text);
    text = failed ? NULL : strdup("");
    if (failed)
        errno = failed;
    return text;
}
