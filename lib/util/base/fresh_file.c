/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/fresh_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the mode of a file that open makes with `mode`. */
static mode_t permitted(mode_t mode)
{
    mode_t mask = umask(077); /* there is no call that only asks */
    umask(mask);
    return mode & ~mask;
}

int tern_fresh_file_begin(struct tern_fresh_file *file, const char *path, mode_t mode)
{
    file->path = path;
    if (snprintf(file->name, sizeof file->name, "%s.XXXXXX", path) >= (int)sizeof file->name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file->fd = mkostemp(file->name, O_CLOEXEC); /* a new file of mode 0600; follows no link */
    if (file->fd < 0)
        return -1;
    if (mode == 0600 || fchmod(file->fd, permitted(mode)) == 0)
        return 0;
    return tern_fresh_file_end(file, false);
}

int tern_fresh_file_end(struct tern_fresh_file *file, bool whole)
{
    int error = errno;
    if (close(file->fd) && whole) {
        error = errno;
        whole = false;
    }
    if (whole && rename(file->name, file->path) == 0)
        return 0;
    error = whole ? errno : error;
    unlink(file->name);
    errno = error;
    return -1;
}
