/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/leftover.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpirun/base/strings.h"

/* The file behind one of a rank's streams: a pseudo-terminal or a pipe. */
struct stream {
    int rank;
    dev_t device;
    ino_t number;
};

static struct {
    struct stream *list;
    int count, room;
} streams;

void tern_leftover_note(int rank, const int fds[3])
{
    for (int which = 1; which <= 2; which++) {
        struct stat info;
        if (fstat(fds[which], &info) < 0)
            continue;
        if (streams.count == streams.room) {
            streams.room = 2 * streams.room + 64;
            streams.list =
                tern_must_grow(streams.list, (size_t)streams.room * sizeof *streams.list);
        }
        streams.list[streams.count++] = (struct stream){ rank, info.st_dev, info.st_ino };
    }
}

/* Returns the rank that writes to this file, or -1. */
static int rank_of_file(const struct stat *info)
{
    for (int i = 0; i < streams.count; i++)
        if (streams.list[i].number == info->st_ino && streams.list[i].device == info->st_dev)
            return streams.list[i].rank;
    return -1;
}

/* Returns true for a link of /proc/PID/fd that leads to a pipe or a pseudo-terminal. Others are not
 * looked at: the file may be on a server that does not answer. */
static bool may_be_stream(int directory, const char *name)
{
    char target[64];
    ssize_t length = readlinkat(directory, name, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    return strncmp(target, "pipe:", 5) == 0 || strstr(target, "/pts/");
}

/* Returns the rank whose output the process holds open, or -1. */
static int rank_held(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(path);
    struct dirent *entry;
    int rank = -1;
    while (directory && rank < 0 && (entry = readdir(directory))) {
        struct stat info;
        if (may_be_stream(dirfd(directory), entry->d_name) &&
            fstatat(dirfd(directory), entry->d_name, &info, 0) == 0)
            rank = rank_of_file(&info);
    }
    if (directory)
        closedir(directory);
    return rank;
}

/* Reads a file of /proc about the process. Returns the number of bytes, 0 if there are none. */
static size_t read_file(pid_t pid, const char *name, char *bytes, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t size = 0;
    ssize_t n;
    while (size < room && (n = read(fd, bytes + size, room - size)) > 0)
        size += (size_t)n;
    close(fd);
    return size;
}

int tern_leftover_rank_of(pid_t pid)
{
    enum { MOST = 1 << 17 };
    static const char name[] = "PMIX_RANK=";
    char *bytes = tern_must_alloc(MOST + 1);
    size_t size = read_file(pid, "environ", bytes, MOST);
    int rank = size ? -1 : TERN_RANK_UNKNOWN;
    bytes[size] = '\0';
    for (size_t at = 0; at < size && rank == -1; at += strlen(bytes + at) + 1)
        if (strncmp(bytes + at, name, sizeof name - 1) == 0)
            rank = atoi(bytes + at + sizeof name - 1);
    free(bytes);
    return rank;
}

/* Writes the words of the command line, or the name in brackets if there are none. */
static void write_command(pid_t pid, char *text, size_t room)
{
    size_t size = read_file(pid, "cmdline", text, room - 1);
    while (size && !text[size - 1])
        size--;
    text[size] = '\0';
    for (size_t i = 0; i < size; i++)
        text[i] = text[i] ? text[i] : ' ';
    if (size)
        return;
    char name[64];
    name[read_file(pid, "comm", name, sizeof name - 1)] = '\0';
    name[strcspn(name, "\n")] = '\0';
    snprintf(text, room, "[%s]", name);
}

bool tern_leftover_describe(pid_t pid, int *ret_rank, char *text, size_t room)
{
    int held = rank_held(pid), named = held < 0 ? tern_leftover_rank_of(pid) : -1;
    *ret_rank = held >= 0 ? held : named >= 0 ? named : -1;
    write_command(pid, text, room);
    return held >= 0;
}
