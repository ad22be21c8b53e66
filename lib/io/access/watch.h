/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FILE_WATCH_H
#define TERN_FILE_WATCH_H

/*
 * Progress lines of a long collective access (parameter io_progress). Rank 0 of the
 * file prints them on standard error: bytes, rate, and the time that the rest will take. Rank 0
 * knows only its own part, and the lines assume that all ranks are as far.
 */

#include <stdbool.h>
#include <stdint.h>

/* An access that is watched. Zeros: it is not. */
struct tern_file_watch {
    bool on, writes, shown;
    const char *path;
    int64_t bytes; /* of all ranks */
    uint64_t began_ns, shown_ns;
};

/* Begins to watch an access of `bytes` bytes, if the parameter wants it. */
void tern_file_watch_begin(struct tern_file_watch *watch, const char *path, bool writes,
                           int64_t bytes);
/* Prints a line if the last one was long ago: `part` of `whole` is done. May be called in any
 * thread, by one at a time. Does nothing if the access is not watched. */
void tern_file_watch_show(struct tern_file_watch *watch, int64_t part, int64_t whole);
/* Prints a last line if there was one before. */
void tern_file_watch_end(struct tern_file_watch *watch);

#endif
