/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TEXT_H
#define TERN_TEXT_H

/* All that stands in a file, up to a byte of 0, to be freed. NULL, with errno: it cannot be read, or there is no memory. */
char *tern_read_text(const char *path);

#endif
