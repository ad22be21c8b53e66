/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_PROGRAMS_H
#define TERN_SHM_PROGRAMS_H

/*
 * Which half of the node's memory belongs to this MPI program? A rank may be a script that runs
 * several MPI programs, one after the other. A message is for the program with the same number in
 * the receiver's place, and that program may begin long after the sender has ended. So all programs
 * of one number have a half of the memory to themselves.
 *
 *      head: launcher's bytes, owner of each half, how far each rank is | half 0 | half 1
 */

#include <stddef.h>
#include <stdint.h>

struct tern_half {
    uint64_t start; /* where in the file, a multiple of the page */
    uint64_t size;
};

/* Size of a file that has halves of `half_size` bytes each. */
uint64_t tern_program_file_size(uint64_t half_size);

/* Finds the half for this program in `size` bytes of shared memory. The first call in a process
 * begins the rank's next program; later calls return the same half. Waits while the half belongs to
 * an earlier program that a rank of this node may still run: until that rank has begun a later one,
 * or has ended. 0, TERN_ERR_NO_MEM, or TERN_ERR_OTHER: another process runs in the rank's place. */
int tern_program_find_half(int fd, uint64_t size, struct tern_half *ret_half);

/* Says that this process has left MPI, and may come back. */
void tern_program_leave(void);
/* Says that it has come back. TERN_ERR_OTHER: another program has begun in the rank's place
 * meanwhile. */
int tern_program_return(void);

/* Says that this program is in the World Model, in which all ranks must be. TERN_ERR_OTHER: a rank
 * of this node has already ended its program with our number. 0 if this process shares no memory.
 */
int tern_program_enter_world(void);

#endif
