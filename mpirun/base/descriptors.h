/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_BASE_DESCRIPTORS_H
#define TERN_MPIRUN_BASE_DESCRIPTORS_H

/* Descriptors that a child has inherited. Both functions call the kernel directly: the C library
 * has close_range since glibc 2.34, and headers know its flag since Linux 5.11. They are safe
 * between fork and exec. */

/* Closes the descriptor `first` and all above it, one by one where the kernel (before 5.9) or a
 * sandbox refuses close_range. */
void tern_descriptors_close(int first);

/* Marks the descriptor `first` and all above it: exec closes them. Does nothing where the kernel
 * (before 5.11) or a sandbox refuses: we open all our own descriptors with O_CLOEXEC anyway. */
void tern_descriptors_close_on_exec(int first);

#endif
