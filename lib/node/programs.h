/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_PROGRAMS_H
#define TERN_SHM_PROGRAMS_H

/*
 * Which half of the node's memory belongs to this MPI program. A rank may be a script that runs
 * several MPI programs, one after the other. A message is for the program with the sender's number
 * in the receiver's place, and that program may begin long after the sender has ended. So all
 * programs with one number have a half of the memory to themselves.
 *
 *      head: launcher's bytes, owner of each half, state of each rank | half 0 | half 1
 */

#include <stddef.h>
#include <stdint.h>

/* A half's place in the file, in bytes. */
struct tern_half {
    uint64_t start; /* a multiple of the page size */
    uint64_t size;
};

/* Returns the size of a file with halves of `half_size` bytes each. */
uint64_t tern_program_file_size(uint64_t half_size);

/* Finds the half for this program in `size` bytes of shared memory. The first call in a process
 * begins the rank's next program; later calls return the same half. Blocks while the half belongs
 * to an earlier program that a rank of this node may still run, that is until each such rank has
 * begun a later program or has ended. Returns 0, TERN_ERR_NO_MEM, or TERN_ERR_OTHER if another
 * process runs in the rank's place. */
int tern_program_find_half(int fd, uint64_t size, struct tern_half *ret_half);

/* Notes that this process has left MPI, and may come back. */
void tern_program_leave(void);
/* Notes that this process has come back. Returns 0, or TERN_ERR_OTHER if another program has begun
 * in the rank's place meanwhile. */
int tern_program_return(void);

/* Notes that this program is in the World Model, which needs all ranks. Returns 0, also if this
 * process shares no memory; or TERN_ERR_OTHER if a rank of this node has already ended its program
 * with our number. */
int tern_program_enter_world(void);

#endif
