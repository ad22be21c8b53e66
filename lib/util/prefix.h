/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PREFIX_H
#define TERN_PREFIX_H

#include <limits.h>

/* Where this installation lies. A tree that was moved after `make install` still finds itself: the
 * answer comes from $OPAL_PREFIX, else from where the running program lies, else from configure. */

/* The installation's prefix. Lives as long as the process. */
const char *tern_prefix(void);

/* `configured`, a directory below configure's prefix, as it is called in this installation; another
 * directory as it is. A path too long for the buffer is cut, and will not be found. */
void tern_prefix_directory(const char *configured, char ret_directory[static PATH_MAX]);

#endif
