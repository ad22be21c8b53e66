/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BUFFERED_H
#define TERN_BUFFERED_H

/* For MPI_Finalize: waits until all buffered messages have been sent, and forgets the buffer. */
void tern_buffered_finish(void);

#endif
