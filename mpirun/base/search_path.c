/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/base/search_path.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpirun/base/strings.h"

bool tern_path_is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static char *absolute(const char *directory, const char *wdir, const char *name)
{
    if (directory[0] == '/')
        return tern_must_format("%s/%s", directory, name);
    if (!*directory)
        return tern_must_format("%s/%s", wdir, name);
    return tern_must_format("%s/%s/%s", wdir, directory, name);
}

char *tern_path_search(const char *directories, const char *wdir, const char *name, char **unusable)
{
    char *copy = tern_must_copy(directories), *rest = copy, *directory, *found = NULL;
    while (!found && (directory = strsep(&rest, ":"))) {
        char *path = absolute(directory, wdir, name);
        struct stat info;
        if (tern_path_is_program(path))
            found = path;
        else if (!*unusable && stat(path, &info) == 0 && S_ISREG(info.st_mode))
            *unusable = path;
        else
            free(path);
    }
    free(copy);
    return found;
}

char *tern_path_find(const char *directories, const char *name)
{
    char *unusable = NULL, *found = tern_path_search(directories, ".", name, &unusable);
    free(unusable);
    return found;
}
