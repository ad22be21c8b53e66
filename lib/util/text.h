/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TEXT_H
#define TERN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Reads a whole text file, which may also be a pipe or a terminal. Returns the text, to be freed by
 * the caller; or NULL, and *ret_why says in words why it cannot be read. What never ends is
 * refused: more than 64 MiB, a byte of 0, a FIFO that nobody writes to. Blocks as long as a writer
 * is there and writes something each minute. */
char *tern_read_text(const char *path, const char **ret_why);
/* The same with another time than a minute. For tests. */
char *tern_read_text_within(const char *path, int silence_ms, const char **ret_why);

/* Writes `text` into `ret_text` such that a terminal shows it and does nothing else: what is not
 * printable UTF-8 becomes \n, \t or \xNN. Control codes are not printable, nor are the characters
 * that change the direction of writing. With `keeps_lines` a line break stays if four blanks follow
 * it: that is how a message of several lines looks. Cuts off at the end of `room` bytes, of which
 * the last is 0. Returns the length of what was written. */
size_t tern_text_make_printable(const char *text, bool keeps_lines, char *ret_text, size_t room);

#endif
