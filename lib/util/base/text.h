/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TEXT_H
#define TERN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Copies a text, cut to `room` bytes including the closing 0. Returns the length of the copy. */
static inline size_t tern_text_copy(char *to, size_t room, const char *text)
{
    size_t length = strnlen(text, room - 1);
    memcpy(to, text, length);
    to[length] = 0;
    return length;
}

/* Reads a whole text file, which may also be a pipe or a terminal. Returns the text without a byte
 * order mark, which the caller must free; or NULL, and *ret_why says why the file cannot be read.
 * Refuses endless input: more than 64 MiB, a 0 byte, a FIFO that nobody writes to. Blocks as long
 * as a writer has the file open and writes at least once a minute. */
char *tern_read_text(const char *path, const char **ret_why);
/* Reads like tern_read_text, with a limit of `silence_ms` in place of the minute. For tests. */
char *tern_read_text_within(const char *path, int silence_ms, const char **ret_why);

/* Returns the number of bytes of the character at `text` if it is printable UTF-8. Returns 0 if it
 * is not. */
int tern_text_character(const char *text);

/* Writes `text` into `ret_text` such that a terminal shows it and does nothing else. What is not
 * printable UTF-8 becomes \n, \t or \xNN. Control codes do not count as printable, nor do
 * characters that change the direction of writing. With `keeps_lines` a line break stays if four
 * blanks follow: messages of several lines look so. Cuts the result to `room` bytes including the
 * closing 0. Returns the length of the result. */
size_t tern_text_make_printable(const char *text, bool keeps_lines, char *ret_text, size_t room);

/* Returns the place in `list` of the word with `length` letters at `word`, or NULL. Words of `list`
 * are separated by characters of `between`; `list` may be NULL. */
const char *tern_text_find_word(const char *list, const char *between, const char *word,
                                size_t length);

/* Returns the edit distance (Damerau-Levenshtein, case ignored) of two words. */
int tern_text_distance(const char *a, const char *b);

#endif
