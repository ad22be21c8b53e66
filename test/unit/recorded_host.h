/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORDED_HOST_H
#define RECORDED_HOST_H

/* A host's description in files of a folder of its own, as they stand under / on a real one. */

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Writes the text to a file of the folder `root`, with the folders above it. The name is made as printf makes it. */
static void record(const char *root, const char *text, const char *format, ...) __attribute__((format(printf, 3, 4)));

static inline void record(const char *root, const char *text, const char *format, ...)
{
    char path[512];
    int length = snprintf(path, sizeof path, "%s/", root);
    va_list args;
    va_start(args, format);
    vsnprintf(path + length, sizeof path - (size_t)length, format, args);
    va_end(args);
    for (char *slash = strchr(path + length, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700); /* may be there */
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (!file) { /* not inside a test: Check's own means do not work here */
        perror(path);
        exit(1);
    }
    fputs(text, file);
    fclose(file);
}

static inline int record_remove_one(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
    (void)stat;
    (void)kind;
    (void)place;
    return remove(path);
}

/* Removes the folder and all that is in it. */
static inline void record_end(const char *root)
{
    nftw(root, record_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
