/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/node/free_memory.h"

#include "lib/util/base/error.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILE_ROOM = 8192, PATH_ROOM = 256 };

/* Reads the beginning of a small file. Returns false if there is none. */
static bool read_file(const char *path, char text[FILE_ROOM])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, FILE_ROOM - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* Reads the number behind `name` at the beginning of a line. Returns `otherwise` if there is
 * none. */
static int64_t number_after(const char *text, const char *name, int64_t otherwise)
{
    size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0)
            return strtoll(line + length, NULL, 10);
    }
    return otherwise;
}

static void note(int64_t bytes, int64_t *least, char text[TERN_FREE_MEMORY_TEXT], const char *whose,
                 const char *path)
{
    bytes = bytes > 0 ? bytes : 0;
    if (bytes >= *least)
        return;
    *least = bytes;
    snprintf(text, TERN_FREE_MEMORY_TEXT, "%s%s has %lld MiB of free memory", whose, path,
             (long long)bytes >> 20);
}

/* ---- the node ---- */

static void look_at_node(const char *root, int64_t *least, int64_t *ret_swap,
                         char text[TERN_FREE_MEMORY_TEXT])
{
    char path[PATH_ROOM], file[FILE_ROOM];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    *ret_swap = 0;
    if (!read_file(path, file))
        return;
    int64_t available = number_after(file, "MemAvailable:", -1);
    int64_t limit = number_after(file, "CommitLimit:", 0);
    int64_t promised = number_after(file, "Committed_AS:", 0);
    *ret_swap = number_after(file, "SwapFree:", 0) << 10;
    if (available >= 0)
        note((available << 10) + *ret_swap, least, text, "the node", "");
    snprintf(path, sizeof path, "%s/proc/sys/vm/overcommit_memory", root);
    if (limit && read_file(path, file) && file[0] == '2')
        note((limit - promised) << 10, least, text,
             "the node promises no more than it has (vm.overcommit_memory=2) and", "");
}

/* ---- control groups ---- */

/* The files of a version. `stat` has the line `cache`. */
struct version {
    const char *mounts[2], *limit, *used, *stat, *cache, *swap_limit, *swap_used;
};
static const struct version versions[] = {
    {{"/sys/fs/cgroup/memory", NULL}, "memory.limit_in_bytes", "memory.usage_in_bytes",
     "memory.stat", "total_inactive_file ", NULL, NULL},
    {{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}, "memory.max", "memory.current", "memory.stat",
     "inactive_file ", "memory.swap.max", "memory.swap.current"},
};

/* Reads a file with one number. Returns `otherwise` if there is none, or the word "max". */
static int64_t read_number(const char *group, const char *name, int64_t otherwise)
{
    char path[PATH_ROOM + 64], file[FILE_ROOM];
    snprintf(path, sizeof path, "%s/%s", group, name);
    if (!name || !read_file(path, file) || file[0] < '0' || file[0] > '9')
        return otherwise;
    return strtoll(file, NULL, 10);
}

static void look_at_group(const struct version *version, const char *group, int64_t swap,
                          int64_t *least, char text[TERN_FREE_MEMORY_TEXT])
{
    /* a limit beyond any memory is none: version 1 has no word for "none" */
    int64_t none = (int64_t)1 << 60, limit = read_number(group, version->limit, none);
    if (limit >= none)
        return;
    int64_t used = read_number(group, version->used, 0), cache = 0;
    char path[PATH_ROOM + 64], file[FILE_ROOM];
    snprintf(path, sizeof path, "%s/%s", group, version->stat);
    if (read_file(path, file))
        cache = number_after(file, version->cache, 0);
    if (version->swap_limit) {
        int64_t left = read_number(group, version->swap_limit, none);
        left = left < none ? left - read_number(group, version->swap_used, 0) : left;
        swap = left < swap ? left : swap;
    }
    note(limit - used + cache + swap, least, text, "the control group ", group);
}

/* Looks at a group and all groups around it. */
static void look_at_groups(const char *root, const struct version *version, const char *name,
                           int64_t swap, int64_t *least, char text[TERN_FREE_MEMORY_TEXT])
{
    for (int i = 0; i < 2 && version->mounts[i]; i++) {
        char group[PATH_ROOM];
        int top = snprintf(group, sizeof group, "%s%s", root, version->mounts[i]);
        snprintf(group + top, sizeof group - (size_t)top, "%.*s", (int)strcspn(name, "\n"), name);
        for (;;) {
            look_at_group(version, group, swap, least, text);
            char *end = strrchr(group, '/');
            if (!end || end < group + top)
                break;
            *end = 0;
        }
    }
}

/* Reads which groups this process is in: lines such as "4:cpu,memory:/job", "0::/job". */
static void look_at_all_groups(const char *root, int64_t swap, int64_t *least,
                               char text[TERN_FREE_MEMORY_TEXT])
{
    char path[PATH_ROOM], file[FILE_ROOM];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!read_file(path, file))
        return;
    for (const char *line = file; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *kinds = strchr(line, ':'), *name = kinds ? strchr(kinds + 1, ':') : NULL;
        if (!name)
            break;
        bool second = name == kinds + 1;
        char list[64];
        snprintf(list, sizeof list, ",%.*s,", (int)(name - kinds - 1), kinds + 1);
        if (second || strstr(list, ",memory,"))
            look_at_groups(root, &versions[second], name + 1, second ? swap : 0, least, text);
    }
}

int64_t tern_free_memory(const char *root, char text[TERN_FREE_MEMORY_TEXT])
{
    int64_t least = INT64_MAX, swap;
    snprintf(text, TERN_FREE_MEMORY_TEXT, "the system does not tell how much memory is free");
    look_at_node(root, &least, &swap, text);
    look_at_all_groups(root, swap, &least, text);
    return least;
}

/* Page tables, the lists of pages, and other programs need some. */
int64_t tern_free_memory_needed(uint64_t bytes)
{
    return (int64_t)(bytes + bytes / 128) + (64 << 20);
}

int tern_free_memory_refuse(uint64_t bytes, const char text[TERN_FREE_MEMORY_TEXT])
{
    return tern_error(TERN_ERR_NO_MEM,
                      "a window needs %llu MiB of memory here, but %s; use smaller windows or more "
                      "nodes",
                      (unsigned long long)bytes >> 20, text);
}

int tern_free_memory_check(uint64_t bytes)
{
    char text[TERN_FREE_MEMORY_TEXT];
    if (tern_free_memory("", text) >= tern_free_memory_needed(bytes))
        return 0;
    return tern_free_memory_refuse(bytes, text);
}

/* ---- what is mapped ---- */

/* Returns a number of /proc/self/statm, in bytes; 0 if there is none. */
static uint64_t mapped_bytes(int field)
{
    char file[FILE_ROOM], *at = file;
    uint64_t pages = 0;
    if (!read_file("/proc/self/statm", file))
        return 0;
    for (int i = 0; i <= field; i++)
        pages = strtoull(at, &at, 10);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Returns true if the limit leaves fewer than `bytes` bytes beside those in use, and says that. */
static bool exceeds(int resource, int field, const char *what, uint64_t bytes, const char *of,
                    const char *option)
{
    struct rlimit limit;
    uint64_t used = mapped_bytes(field);
    if (getrlimit((__rlimit_resource_t)resource, &limit) || limit.rlim_cur == RLIM_INFINITY ||
        (used <= limit.rlim_cur && bytes <= limit.rlim_cur - used))
        return false;
    tern_error(TERN_ERR_NO_MEM,
               "%s needs %llu MiB more, but this process may have %llu MiB of %s, of which %llu "
               "are in use; raise the limit (ulimit %s)",
               what, (unsigned long long)bytes >> 20, (unsigned long long)limit.rlim_cur >> 20, of,
               (unsigned long long)used >> 20, option);
    return true;
}

int tern_free_memory_unmapped(const char *what, uint64_t bytes, bool is_private)
{
    enum { ALL = 0, DATA = 5 }; /* fields of statm */
    char text[TERN_FREE_MEMORY_TEXT];
    if (exceeds(RLIMIT_AS, ALL, what, bytes, "addresses", "-v") ||
        (is_private && exceeds(RLIMIT_DATA, DATA, what, bytes, "private memory", "-d")))
        return TERN_ERR_NO_MEM;
    int64_t left = tern_free_memory("", text);
    if (left < 0 || bytes > (uint64_t)left)
        return tern_error(TERN_ERR_NO_MEM, "%s needs %llu MiB more, but %s", what,
                          (unsigned long long)bytes >> 20, text);
    return tern_error(TERN_ERR_NO_MEM, "%s needs %llu MiB more, which the system does not map",
                      what, (unsigned long long)bytes >> 20);
}
