/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PREFIX_H
#define TERN_PREFIX_H

#include <limits.h>

/* Where this installation lies. A tree that was moved after `make install` still finds itself: the
 * answer comes from $OPAL_PREFIX, else from the place of the running program, else from
 * configure. */

/* Returns the installation's prefix. The text lives as long as the process. */
const char *tern_prefix(void);

/* Translates a directory: writes where `configured`, a directory below configure's prefix, lies in
 * this installation. A directory elsewhere stays unchanged. A path too long for the buffer is cut,
 * and will not be found. */
void tern_prefix_directory(const char *configured, char ret_directory[static PATH_MAX]);

#endif
