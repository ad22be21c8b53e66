/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/read_line.h"

#include <stdio.h>
#include <string.h>

bool tern_read_line(const char *path, char *line, size_t room)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool good = fgets(line, (int)room, file);
    fclose(file);
    if (good)
        line[strcspn(line, "\n")] = '\0';
    return good;
}
