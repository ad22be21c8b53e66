/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/prefix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns what follows configure's prefix in `directory` ("/bin" of "/usr/bin"), or NULL if
 * `directory` is elsewhere. */
static const char *below_prefix(const char *directory)
{
    size_t length = strlen(TERN_PREFIX);

    if (strncmp(directory, TERN_PREFIX, length) != 0 ||
        (directory[length] != '/' && directory[length] != '\0')) {
        return NULL;
    }
    return directory + length;
}

static const char *find_prefix(void)
{
    static char path[PATH_MAX];

    const char *moved = getenv("OPAL_PREFIX");
    if (moved && *moved) {
        return moved;
    }
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    const char *tail = below_prefix(TERN_BINDIR);
    if (length <= 0 || !tail) {
        return TERN_PREFIX;
    }
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    size_t directory_length = strlen(path);
    size_t tail_length = strlen(tail);
    /* the program is not in a directory of that name, so it runs from the build tree */
    if (directory_length < tail_length ||
        strcmp(path + directory_length - tail_length, tail) != 0) {
        return TERN_PREFIX;
    }
    path[directory_length - tail_length] = '\0';
    return path;
}

const char *tern_prefix(void)
{
    static const char *prefix;

    if (!prefix) {
        prefix = find_prefix();
    }
    return prefix;
}

void tern_prefix_directory(const char *configured, char ret_directory[static PATH_MAX])
{
    const char *tail = below_prefix(configured);

    snprintf(ret_directory, PATH_MAX, "%s%s", tail ? tern_prefix() : "", tail ? tail : configured);
}
