/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_INPUT_H
#define TERN_MPIRUN_RANKS_INPUT_H

#include <stdbool.h>
#include <stddef.h>

/* mpirun's standard input to the ranks that shall have it. It is read only as fast as they take it,
 * and from a terminal only while mpirun is in its foreground. */

/* Adds the writing end of a rank's standard input (owned from now on). */
void tern_input_add(int fd);
/* The ranks of a host that shall have it: `send` gets a piece (none: the end), and tern_input_taken
 * is called when they have taken it. */
void tern_input_add_host(int host, void (*send)(int host, const char *piece, size_t size));
void tern_input_taken(int host, bool wants_more);
/* On an agent: a piece for the targets here, after the last one has been taken; `taken` is then
 * told, and whether anybody still reads. */
void tern_input_feed(const char *piece, size_t size, void (*taken)(bool wants_more));
/* Starts to read, once all are added. */
void tern_input_start(void);
/* mpirun may have come to the foreground. */
void tern_input_check_foreground(void);

#endif
