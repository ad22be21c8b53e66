/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FRESH_FILE_H
#define TERN_FRESH_FILE_H

/*
 * A file that replaces another in one step: whoever opens the name reads either the old file or
 * the whole new one. Until then the new file has a name beside it that nobody can guess, and it is
 * never one that exists. So nobody who may write into the directory can make this process follow a
 * link, or read what it writes.
 */

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct tern_fresh_file {
    int fd;
    const char *path; /* the name that it shall get */
    char name[PATH_MAX]; /* the name that it has */
};

/* Makes a new file, to be written at `fd`. `path` must stay valid. Returns 0, or -1 with errno. */
int tern_fresh_file_begin(struct tern_fresh_file *file, const char *path, mode_t mode);
/* Closes the file and gives it its name, if it is whole; else removes it. Returns 0, or -1 with
 * errno if it has not got its name; errno is unchanged if it was not whole. */
int tern_fresh_file_end(struct tern_fresh_file *file, bool whole);

#endif
