/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/session_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "mpirun/ranks/descendants.h"

static bool is_private_directory(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
           !(info.st_mode & 077);
}

/* Removes directories whose lock is free, because their owners are gone. Call it with the parent's
 * lock held, so that no directory is seen after it was made and before it was locked. */
static void sweep(const char *parent)
{
    DIR *list = opendir(parent);
    struct dirent *entry;
    while (list && (entry = readdir(list))) {
        if (entry->d_name[0] == '.')
            continue;
        int fd =
            openat(dirfd(list), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            char path[1024];
            if (snprintf(path, sizeof path, "%s/%s", parent, entry->d_name) < (int)sizeof path)
                tern_remove_tree(path);
        }
        close(fd);
    }
    if (list)
        closedir(list);
}

/* Makes PARENT/TOKEN. Returns 0, -1 with errno, or 1 if the parent vanished meanwhile (another job
 * was the last to end): try again. */
static int create_below(const char *parent, const char *path, const char *token)
{
    int parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (parent_fd < 0)
        return errno == ENOENT ? 1 : -1;
    flock(parent_fd, LOCK_EX);
    sweep(parent);
    int result = 0;
    if (mkdirat(parent_fd, token, 0700) < 0)
        result = errno == ENOENT ? 1 : -1;
    if (result == 0)
        tern_session_hold(path);
    int saved = errno;
    close(parent_fd);
    errno = saved;
    return result;
}

/* Makes BASE/tern-UID/TOKEN. Returns 0, or -1 with errno. */
static int create_in(const char *base, const char *token, char *ret_path, size_t room)
{
    char parent[1024];
    snprintf(parent, sizeof parent, "%s/tern-%u", base, (unsigned)geteuid());
    for (int tries = 0; tries < 100; tries++) {
        if (mkdir(parent, 0700) < 0 && errno != EEXIST)
            return -1;
        if (!is_private_directory(parent)) {
            struct stat info;
            if (lstat(parent, &info) < 0 && errno == ENOENT)
                continue;
            /* another user's, or open to others: do not use it */
            snprintf(parent, sizeof parent, "%s/tern-%u-%s", base, (unsigned)geteuid(), token);
            continue;
        }
        if (snprintf(ret_path, room, "%s/%s", parent, token) >= (int)room) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int result = create_below(parent, ret_path, token);
        if (result == 0)
            return 0;
        if (result < 0) {
            int error = errno;
            rmdir(parent); /* succeeds only if no other job is in it */
            errno = error;
            return -1;
        }
    }
    return -1;
}

int tern_session_create(const char *token, char *ret_path, size_t room)
{
    const char *outer = getenv("TERN_SESSION_DIR");
    if (outer && (outer[0] != '/' || !is_private_directory(outer)))
        outer = NULL;
    const char *const bases[] = {outer, getenv("TMPDIR"), getenv("XDG_RUNTIME_DIR"), "/tmp",
                                 "/dev/shm"};
    char tried[1024] = "";
    int length = 0;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (!bases[i] || bases[i][0] != '/')
            continue;
        if (create_in(bases[i], token, ret_path, room) == 0)
            return 0;
        if (length < (int)sizeof tried)
            length += snprintf(tried + length, sizeof tried - (size_t)length, "%s%s (%s)",
                               length ? ", " : "", bases[i], strerror(errno));
    }
    return tern_error(
        TERN_ERR_OTHER,
        "cannot make a directory for the job in %s; set TMPDIR to a directory that is writable",
        tried);
}

int tern_session_sweep(void)
{
    enum { TIMES = 4, BETWEEN_US = 100 * 1000 };
    char path[1024];
    for (int i = 0; i < TIMES; i++) {
        if (tern_session_create("sweep", path, sizeof path))
            return 1;
        tern_session_remove(path);
        usleep(BETWEEN_US);
    }
    return 0;
}

void tern_session_hold(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        /* never closed: the lock ends with the last process that holds it */
        flock(fd,
              LOCK_SH | LOCK_NB);
}

void tern_session_remove(const char *path)
{
    char parent[1024];
    snprintf(parent, sizeof parent, "%s", path);
    tern_remove_tree(path);
    char *slash = strrchr(parent, '/');
    if (slash && slash != parent) {
        *slash = '\0';
        rmdir(parent);
    }
}
