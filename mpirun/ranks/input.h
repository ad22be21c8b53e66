/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_INPUT_H
#define TERN_MPIRUN_RANKS_INPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Passes mpirun's standard input to the ranks that shall read it. Reads only as fast as the slowest
 * of these ranks, and reads a terminal only while mpirun is in its foreground. */

/* Adds the write end of a rank's standard input, which this file owns from now on. */
void tern_input_add(int fd);
/* Adds a host whose ranks shall read standard input. `send` passes a piece to the host; size 0
 * means the end of the input. tern_input_taken must be called when the host's ranks have taken the
 * piece. */
void tern_input_add_host(int host, void (*send)(int host, const char *piece, size_t size));
/* Reports that `host` has taken the last piece. If not `wants_more`, its ranks read no further. */
void tern_input_taken(int host, bool wants_more);
/* On an agent: passes a piece from mpirun to the ranks here; size 0 means the end. Call it only
 * after the last piece was taken. `taken` is called when this piece is taken; `wants_more` is false
 * if no rank reads any more. */
void tern_input_feed(const char *piece, size_t size, void (*taken)(bool wants_more));
/* Starts reading. Call it when all targets are added. */
void tern_input_start(void);
/* Resumes reading if mpirun is in the foreground now. Call it when that may have changed. */
void tern_input_check_foreground(void);

#endif
