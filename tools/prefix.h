/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PREFIX_H
#define TERN_PREFIX_H

/* Where this installation lies. A tree that was moved after `make install` still finds itself: the answer comes from
 * $OPAL_PREFIX, else from where the running program lies, else from configure. */

/* The installation's prefix. Lives as long as the process. */
const char *tern_prefix(void);

/* `configured`, a directory below configure's prefix, as it is called in this installation; another directory is
 * returned as it is. Lives as long as the process. */
const char *tern_prefix_directory(const char *configured);

#endif
