/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/ancestry.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The second field of /proc/PID/stat is a name, which may contain blanks and parentheses. */
pid_t tern_parent_of(pid_t pid, bool *ret_ended)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    const char *after = strrchr(text, ')');
    char state;
    int parent;
    if (!after || sscanf(after + 1, " %c %d", &state, &parent) != 2)
        return 0;
    if (ret_ended)
        *ret_ended = state == 'Z' || state == 'X';
    return parent;
}

struct tern_ancestry tern_ancestry_below(pid_t top)
{
    struct tern_ancestry line = {.count = 1, .pids = {getpid()}};
    pid_t above = getppid();
    while (above > 1 && above != top && line.count < TERN_ANCESTRY_MOST) {
        line.pids[line.count++] = above;
        above = tern_parent_of(above, NULL);
    }
    return line;
}
