/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_STREAMS_H
#define TERN_STREAMS_H

/* Opens /dev/null in place of closed standard streams. Call it before the first file or socket is
 * opened: that would take the number of a closed stream, and get what the program writes to it.
 * /dev/null is opened for reading, so that writing fails (EBADF), as writing to the closed stream
 * did. Does nothing if /dev/null cannot be opened. */
void tern_streams_hold(void);

#endif
