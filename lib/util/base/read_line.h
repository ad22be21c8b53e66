/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_READ_LINE_H
#define TERN_READ_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the first line of a file, such as one of /sys, without its end; a longer line is cut.
 * Returns false if there is no file or it is empty; then *line is not valid. */
bool tern_read_line(const char *path, char *line, size_t room);

#endif
