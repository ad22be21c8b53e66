/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_INPUT_H
#define TERN_MPIRUN_INPUT_H

/* mpirun's standard input to the ranks that shall have it. It is read only as fast as they take it,
 * and from a terminal only while mpirun is in its foreground. */

/* Adds the writing end of a rank's standard input (owned from now on). */
void tern_input_add(int fd);
/* Starts to read, once all are added. */
void tern_input_start(void);
/* mpirun may have come to the foreground. */
void tern_input_check_foreground(void);

#endif
