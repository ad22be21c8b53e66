/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_BOARD_H
#define TERN_SHM_BOARD_H

/*
 * A board: where the ranks of a node pin up what all of them may read, turn by turn. In a turn a
 * rank may post once; whoever wants something waits for the post of the rank in question.
 *
 *      area of rank 0: done | slot 0 ... slot 31 | sheet 0 ... sheet 7 || area of rank 1 ...
 *      long sheets of rank 0 | of rank 1 ...                              made when they are wanted
 *
 * Turn t uses slot t modulo 32 of each rank. A slot carries the turn's number and, if they are few,
 * the bytes: reading that line is all the communication there is. More bytes stand on sheet t
 * modulo 8, many on long sheet t modulo 4. A rank posts in turn t only when all have done turn t -
 * 32 (8, 4), so nobody overwrites what somebody still reads, and whoever only posts may be many
 * turns ahead. A board of a persistent collective alone is smaller: four slots, and four sheets as
 * long as its posts.
 *
 * All ranks take part in all turns and take them in the same order, but they may be in several at a
 * time and finish them in any order. Of the turns that are not done by all, the first one finds its
 * place free on every rank: so turns cannot wait for each other in a circle.
 *
 * Waiting is the caller's: the functions here say whether there is something yet. Making one, too,
 * waits for nobody: the first rank to come takes the memory, the others find it.
 */

#include "lib/node/segment.h"
#include "lib/util/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a post in the slot and on a sheet, and how many turns such posts can be ahead. */
enum {
    TERN_BOARD_SLOT_BYTES = 112,
    TERN_BOARD_SLOTS = 32,
    TERN_BOARD_SHEET_BYTES = 1024,
    TERN_BOARD_SHEETS = 8,
    TERN_BOARD_LONG_SHEETS = 4,
};

/* How many posts of a kind may be ahead (powers of two), and how long one on a sheet may be. */
struct tern_board_shape {
    uint32_t slots, sheets;
    int32_t sheet_bytes; /* a multiple of the cache line */
};

static const struct tern_board_shape tern_board_common = {TERN_BOARD_SLOTS, TERN_BOARD_SHEETS,
                                                          TERN_BOARD_SHEET_BYTES};

/* A rank's view. Zero: no board. */
struct tern_board {
    char *areas; /* in the node's memory */
    char *mine;  /* this rank's */
    char *long_sheets; /* likewise; NULL: none */
    size_t area_bytes;
    struct tern_board_shape shape;
    int rank, size;
    int32_t long_bytes; /* of a long sheet; 0: none */
    uint32_t turn;      /* the one taken last; the first is 1 */
    uint32_t known;     /* a turn that all have done, as last seen */
    uint32_t done;      /* this rank has done all turns up to here ... */
    uint32_t done_also; /* ... and, bit i, turn done + 2 + i */
};

/* Opens the board of that name as rank `rank` of `size`, all of this node; the first one to come
 * makes it. 0 or TERN_ERR_NO_MEM (said to nobody), the same on all of them. */
int tern_board_open(struct tern_board *board, const struct tern_segment_name *name, int rank,
                    int size, const struct tern_board_shape *shape);
/* The same for long sheets of `bytes` each, a multiple of the cache line; between turns. */
int tern_board_lengthen(struct tern_board *board, int32_t bytes);
/* The last one to close it gives the memory back. */
void tern_board_close(struct tern_board *board);

/*
 * A turn as posts name it: its number in the low half; in the high half what the turn is for, which
 * all its ranks must say alike. A post that says something else is no post of the turn.
 */
typedef uint64_t tern_turn;

/* Takes `count` turns, every rank in the same order; the first one's number. */
static inline uint32_t tern_board_enter(struct tern_board *board, uint32_t count)
{
    uint32_t first = board->turn + 1;
    board->turn += count;
    return first;
}

/* Room for this rank's post of so many bytes in a turn, aligned to 16 bytes; NULL: not yet. */
void *tern_board_room(struct tern_board *board, uint32_t turn, int64_t bytes);
/* What stands in the room is posted; wakes those who sleep waiting for it. */
void tern_board_post(struct tern_board *board, tern_turn turn, int64_t bytes);
/* The same, in place of a post: this rank has nothing to post. Whoever looks gets
 * tern_board_failure. */
void tern_board_post_failure(struct tern_board *board, tern_turn turn);
extern const char tern_board_failure[];
/* What rank `peer` has posted in a turn; NULL: not yet. */
const void *tern_board_look(const struct tern_board *board, tern_turn turn, int peer);
/* Looks for a post in the turn of this number that is for something else than `turn`. Returns the
 * poster's rank, -1 if there is none. Looks at the ranks after `after`. */
int tern_board_find_other(const struct tern_board *board, tern_turn turn, int after,
                          tern_turn *ret_other);
/* For who sleeps until rank `peer` posts, or, -1, until there is room (tern_doorbell_arm). */
uint32_t tern_board_awaited(const struct tern_board *board, int peer);
/* So many bytes of rank `peer`'s post were read. Of two ranks none but the poster, who will write
 * them anew, looks at them besides. */
static inline void tern_board_read(const struct tern_board *board, int peer, char *place,
                                   int64_t bytes)
{
    if (board->size == 2 && peer != board->rank && bytes > TERN_BOARD_SLOT_BYTES)
        tern_own_lines(place, bytes);
}
/* This rank needs nothing of the turn any more. To be said of every turn. */
void tern_board_done(struct tern_board *board, uint32_t turn);

#endif
