/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_BOARD_H
#define TERN_SHM_BOARD_H

/*
 * A board: shared memory where the ranks of a node post bytes that all of them may read, turn by
 * turn. In a turn a rank may post once. A rank that needs another rank's bytes waits for that
 * rank's post.
 *
 *      area of rank 0: done | slot 0 ... slot 31 | sheet 0 ... sheet 7 || area of rank 1 ...
 *      long sheets of rank 0 | of rank 1 ...                              made on first use
 *
 * Turn t uses slot t modulo 32 of each rank. A slot holds the turn's number and, if they are few,
 * the bytes: then one cache line is the whole communication. More bytes go to sheet t modulo 8,
 * still more to long sheet t modulo 4. A rank posts in turn t only after all ranks have finished
 * turn t - 32 (8, 4). So no rank overwrites bytes that another still reads, and a rank that only
 * posts may be many turns ahead. The board of a persistent collective is smaller: four slots, and
 * four sheets as long as its posts.
 *
 * All ranks take part in all turns and begin them in one order. A rank may be in several turns at a
 * time and finish them in any order. No deadlock: the first turn that some rank has not finished
 * finds its place free on every rank, so turns cannot wait for each other in a circle.
 *
 * Between cores far apart, a store to a line that other cores have read since waits for them, one
 * line after the other, but a reader's store does not. So a rank times its writing to long sheets.
 * If a sheet was slow twice, it asks the readers of its next posts to take the lines by storing to
 * them. From time to time it does not ask, because near cores are faster without.
 *
 * The functions here never wait: they say whether something is there yet, and the caller waits.
 * Opening a board does not wait either: the first rank takes the memory, the others find it.
 */

#include "lib/node/pieces.h"
#include "lib/util/base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of the common board: bytes of a post in a slot and on a sheet, and how many turns ahead
 * such posts can be. */
enum {
    TERN_BOARD_SLOT_BYTES = 112,
    TERN_BOARD_SLOTS = 32,
    TERN_BOARD_SHEET_BYTES = 1024,
    TERN_BOARD_SHEETS = 8,
    TERN_BOARD_LONG_SHEETS = 4,
};

/* The size of a board: the number of slots and of sheets, powers of two, and the bytes of a
 * sheet. */
struct tern_board_shape {
    uint32_t slots, sheets;
    int32_t sheet_bytes; /* a multiple of the cache line */
};

static const struct tern_board_shape tern_board_common = {TERN_BOARD_SLOTS, TERN_BOARD_SHEETS,
                                                          TERN_BOARD_SHEET_BYTES};

/* Turns that this rank does not use, from `first` on. */
struct tern_board_skip {
    struct tern_board_skip *next;
    uint32_t first, count;
};

/* A rank's view of a board. All zero: no board. */
struct tern_board {
    char *areas; /* all ranks' areas, in the node's memory; NULL: no board */
    char *mine;  /* this rank's area */
    char *long_sheets; /* all ranks' long sheets, in the node's memory; NULL: none */
    size_t area_bytes;
    struct tern_board_shape shape;
    int rank, size; /* this rank in the communicator, and number of ranks */
    int32_t long_bytes; /* bytes of a long sheet; 0: none */
    uint32_t turn;      /* number of the turn begun last; the first turn is 1 */
    uint32_t known;     /* a turn that all ranks have finished, as last seen */
    uint32_t done;      /* this rank has finished all turns up to this one ... */
    uint32_t done_also; /* ... and, if bit i is set, turn done + 2 + i */
    /* Number of further posts on long sheets whose readers this rank asks to take the lines. */
    uint16_t asks;
    /* A bit for each long sheet. `asked`: the readers of its last post were asked. `slow`: they
     * were not asked, and the sheet was slow to write afterwards. */
    uint8_t asked, slow;
    bool wrote_slowly;             /* a part of the next post */
    uint32_t limit;                /* ticks for 1024 lines; more are slow */
    struct tern_board_skip *skips; /* turns behind these that count as finished; owned */
};

/* Opens the board `name` as rank `rank` of `size`, all on this node. The first rank to call makes
 * the board. Returns 0 or TERN_ERR_NO_MEM, without text; all ranks get the same answer. */
int tern_board_open(struct tern_board *board, const struct tern_segment_name *name, int rank,
                    int size, const struct tern_board_shape *shape);
/* Adds long sheets of `bytes` each, a multiple of the cache line. Call it between turns. Returns
 * like tern_board_open. */
int tern_board_lengthen(struct tern_board *board, int32_t bytes);
/* Closes this rank's view. The last rank to close gives the memory back. */
void tern_board_close(struct tern_board *board);

/*
 * The name of a turn in posts. The low half is the turn's number. The high half says what the turn
 * is for; all ranks of the turn must state the same. A post with another high half does not belong
 * to the turn.
 */
typedef uint64_t tern_turn;

/* Begins `count` turns, which every rank does in the same order. Returns the number of the
 * first. */
static inline uint32_t tern_board_enter(struct tern_board *board, uint32_t count)
{
    uint32_t first = board->turn + 1;
    board->turn += count;
    return first;
}

/* Returns the place for this rank's post of `bytes` bytes in a turn, aligned to 16 bytes. Returns
 * NULL if the place is not free yet. */
void *tern_board_room(struct tern_board *board, uint32_t turn, int64_t bytes);
/* Posts the bytes at that place. Wakes the ranks that sleep until this post. */
void tern_board_post(struct tern_board *board, tern_turn turn, int64_t bytes);
/* Posts a failure instead: this rank has no bytes for the turn. Ranks that look get
 * tern_board_failure. */
void tern_board_post_failure(struct tern_board *board, tern_turn turn);
extern const char tern_board_failure[];
/* Returns the bytes that rank `peer` has posted in a turn, or NULL if it has not posted yet.
 * *ret_bytes: how many bytes the post has. */
const void *tern_board_look(const struct tern_board *board, tern_turn turn, int peer,
                            int64_t *ret_bytes);
/* Searches the posts with the number of `turn` for one whose high half differs, beginning behind
 * rank `after`. Returns the rank that posted it, or -1 if there is none. */
int tern_board_find_other(const struct tern_board *board, tern_turn turn, int after,
                          tern_turn *ret_other);
/* Returns the argument of tern_doorbell_arm for a thread that sleeps until rank `peer` posts, or,
 * if `peer` is -1, until there is room. */
uint32_t tern_board_awaited(const struct tern_board *board, int peer);
/* Reports that copying `bytes`, a part of this rank's next post, took `ticks`. */
static inline void tern_board_wrote(struct tern_board *board, int64_t bytes, uint64_t ticks)
{
    board->wrote_slowly |= ticks * 1024 * TERN_CACHE_LINE > (uint64_t)bytes * board->limit;
}
/* Returns true if `peer`, which has posted in a turn, asks the readers to take the lines. */
bool tern_board_asks(const struct tern_board *board, uint32_t turn, int peer);
/* Reports that `bytes` of `peer`'s post in a turn were read at `place`. Takes ownership of the
 * cache lines if there are two ranks, because only the poster will touch them next, or if the
 * poster asks for that. */
void tern_board_read(const struct tern_board *board, uint32_t turn, int peer, char *place,
                     int64_t bytes);
/* Reports that this rank has finished a turn and reads nothing of it any more. Call it for every
 * turn. */
void tern_board_done(struct tern_board *board, uint32_t turn);
/* Reports that no rank uses the turns of `skip`, which may lie any number of turns ahead. Takes
 * ownership of `skip`, which was malloc'ed. */
void tern_board_skip(struct tern_board *board, struct tern_board_skip *skip);

#endif
