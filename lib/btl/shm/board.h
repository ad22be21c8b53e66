/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_BOARD_H
#define TERN_SHM_BOARD_H

/*
 * A board: where the ranks of a communicator on one node pin up what all of them may read, turn by
 * turn. In a turn a rank may post once; whoever wants something waits for the post of the rank in
 * question. A short post is one cache line, which carries its turn's number and the bytes: reading it
 * is all the communication there is.
 *
 *      users | area of rank 0: done | slot 0 ... slot 7 | area of rank 1 ...
 *
 * Turn t uses slot t modulo 8 of each rank. A rank posts in turn t only when all have done turn t - 8,
 * so nobody overwrites what somebody still reads. All ranks take part in all turns, in order.
 *
 * Waiting is the caller's: the functions here say whether there is something yet.
 */

#include "lib/util/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TERN_BOARD_BYTES = 1024, TERN_BOARD_SLOTS = 8 };

struct tern_board_area;

/* A rank's view. Zero: no board. */
struct tern_board {
    struct tern_board_area *areas; /* in the node's memory */
    uint64_t offset;
    int rank, size;
    uint32_t turn;  /* the current one, from 1 on */
    uint32_t known; /* a turn that all have done, as last seen */
};

/* Makes a board for `size` ranks of this node. To be told to them. TERN_ERR_NO_MEM: said to nobody. */
int tern_board_make(int size, uint64_t *ret_offset);
/* Opens what rank 0 of the `size` has made; every rank of them does. */
void tern_board_open(struct tern_board *board, uint64_t offset, int rank, int size);
/* The last one to close it gives the memory back. */
void tern_board_close(struct tern_board *board);

/* Room for this rank's post in the current turn; NULL: not yet. */
void *tern_board_room(struct tern_board *board);
/* What stands in the room is posted; wakes those who sleep. */
void tern_board_post(struct tern_board *board);
/* What rank `peer` has posted in the current turn; NULL: not yet. */
const void *tern_board_look(const struct tern_board *board, int peer);
/* This rank needs nothing of the current turn any more. */
void tern_board_done(struct tern_board *board);

#endif
