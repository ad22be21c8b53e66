/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/rte/node_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool tern_rte_adopt_node_memory(const char *text, int *ret_fd, size_t *ret_size)
{
    enum { TOKEN = 32 };
    static const char magic[] = "TERNSHM1";
    int fd, end = 0;
    unsigned long long size;
    char token[TOKEN + 1], begin[64];
    struct stat st;

    if (!text || sscanf(text, "%d:%llu:%32[0-9a-f]%n", &fd, &size, token, &end) != 3 || text[end] ||
        strlen(token) != TOKEN || fd < 0)
        return false;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (unsigned long long)st.st_size != size)
        return false;
    if (pread(fd, begin, sizeof begin, 0) != (ssize_t)sizeof begin ||
        memcmp(begin, magic, sizeof magic - 1) != 0 ||
        memcmp(begin + sizeof magic - 1, token, TOKEN) != 0)
        return false;
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return false;
    *ret_fd = fd;
    *ret_size = size;
    return true;
}
