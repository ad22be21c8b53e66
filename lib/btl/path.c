/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The newest text comes first. Older ones stay, because readers take no lock; there are few, as
 * connections seldom change. */
struct tern_path {
    struct tern_path *older;
    char text[];
};

void tern_path_set(struct tern_path **path, const char *text)
{
    size_t length = strnlen(text, TERN_PATH_MOST - 1);
    struct tern_path *newest = *path;
    if (newest && strncmp(newest->text, text, length) == 0 && newest->text[length] == 0)
        return;
    struct tern_path *made = malloc(sizeof *made + length + 1);
    if (!made)
        return;
    made->older = newest;
    memcpy(made->text, text, length);
    made->text[length] = 0;
    /* release: a reader that sees the pointer sees the text */
    __atomic_store_n(path, made, __ATOMIC_RELEASE);
}

void tern_path_add(struct tern_path **path, const char *more)
{
    char text[TERN_PATH_MOST];
    const struct tern_path *newest = *path;
    if (newest && strstr(newest->text, more))
        return;
    snprintf(text, sizeof text, "%s%s%s", newest ? newest->text : "", newest ? "; " : "", more);
    tern_path_set(path, text);
}

const char *tern_path_text(struct tern_path *const *path)
{
    const struct tern_path *newest = __atomic_load_n(path, __ATOMIC_ACQUIRE);
    return newest ? newest->text : NULL;
}

void tern_path_free(struct tern_path **path)
{
    for (struct tern_path *at = *path, *older; at; at = older) {
        older = at->older;
        free(at);
    }
    *path = NULL;
}
