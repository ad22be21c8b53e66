/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ACCESS_H
#define TERN_ACCESS_H

/*
 * Moves bytes between the memory of one rank and a file, without other ranks. Works in any thread
 * and takes no lock. Blocks while the system reads or writes.
 */

#include "lib/io/access/hints.h"
#include "lib/io/access/view.h"
#include "lib/io/access/watch.h"
#include "lib/type/type.h"

#include <stdbool.h>
#include <stdint.h>

/* One access: bytes of a view's stream, and the memory that they come from or go to. */
struct tern_access {
    int fd;
    const char *path; /* for messages */
    bool revalidates; /* this host may know less of the file than the file system does: ask it where
                       * a read finds the end of the file */
    bool writes;
    const struct tern_view *view;
    const struct tern_hints *hints;
    int64_t position;          /* first byte of the stream */
    struct tern_cursor memory; /* where its bytes lie; the access ends with the cursor */
    struct tern_file_watch *watch;  /* told how far the access is; NULL: nobody watches */
    int64_t done;              /* result: bytes moved; a read ends early at the end of the file */
};

/* Does the access. Returns 0, or TERN_ERR_* with text. */
int tern_access_run(struct tern_access *access);

/* Write or read `length` bytes at `offset` of an access's file, in as many calls as it takes. A
 * read stops at the end of the file; *ret_done tells where. Return 0, or TERN_ERR_* with text. */
int tern_access_write(const struct tern_access *access, const void *buf, int64_t length,
                      int64_t offset);
int tern_access_read(const struct tern_access *access, void *buf, int64_t length, int64_t offset,
                     int64_t *ret_done);

#endif
