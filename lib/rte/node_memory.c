/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/rte/node_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOKEN = 32 };

struct text {
    int fd;
    unsigned long long size;
    char token[TOKEN + 1];
};

static bool read_text(const char *text, struct text *ret)
{
    int end = 0;
    return text &&
           sscanf(text, "%d:%llu:%32[0-9a-f]%n", &ret->fd, &ret->size, ret->token, &end) == 3 &&
           !text[end] && strlen(ret->token) == TOKEN && ret->fd >= 0;
}

/* Returns true if the descriptor's file is the memory, and the descriptor is closed on exec now. */
static bool take(int fd, const struct text *text, size_t *ret_roster)
{
    static const char magic[] = "TERNSHM1";
    char begin[64];
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (unsigned long long)st.st_size < text->size)
        return false;
    if (pread(fd, begin, sizeof begin, 0) != (ssize_t)sizeof begin ||
        memcmp(begin, magic, sizeof magic - 1) != 0 ||
        memcmp(begin + sizeof magic - 1, text->token, TOKEN) != 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return false;
    *ret_roster = (size_t)st.st_size - text->size;
    return true;
}

bool tern_rte_adopt_node_memory(const char *value, const char *path, int *ret_fd, size_t *ret_size,
                                size_t *ret_roster)
{
    struct text text;
    if (!read_text(value, &text))
        return false;
    int fd = text.fd;
    if (!take(fd, &text, ret_roster)) {
        fd = path ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1;
        if (fd < 0)
            return false;
        if (!take(fd, &text, ret_roster)) {
            close(fd);
            return false;
        }
    }
    *ret_fd = fd;
    *ret_size = text.size;
    return true;
}

bool tern_rte_gives_node_memory(const char *nspace)
{
    return strncmp(nspace, "tern-", 5) == 0 &&
           strspn(nspace + 5, "0123456789abcdef") == TOKEN / 2 && !nspace[5 + TOKEN / 2];
}
