/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/shm/board.h"

#include "lib/btl/doorbell.h"
#include "lib/btl/shm/segment.h"
#include "lib/util/error.h"

enum place { IN_SLOT, ON_SHEET, ON_LONG_SHEET };

struct slot {
    uint32_t turn; /* stored last */
    uint32_t place;
    char spare[8];
    char bytes[TERN_BOARD_SLOT_BYTES];
};
_Static_assert(sizeof(struct slot) == 2 * TERN_CACHE_LINE, "a short post is in the first line");

struct tern_board_area {
    uint32_t done __attribute__((aligned(TERN_CACHE_LINE))); /* turn */
    /* written once when the rank opens the board: 1 + its number on the node */
    uint32_t local_rank __attribute__((aligned(TERN_CACHE_LINE)));
    uint32_t users; /* of rank 0's area: who has the board open */
    struct slot slots[TERN_BOARD_SLOTS] __attribute__((aligned(TERN_CACHE_LINE)));
    char sheets[TERN_BOARD_SHEETS][TERN_BOARD_SHEET_BYTES];
};

static size_t bytes_for(int size)
{
    return (size_t)size * sizeof(struct tern_board_area);
}

static size_t long_bytes_for(int size, int32_t bytes)
{
    return (size_t)size * TERN_BOARD_LONG_SHEETS * (size_t)bytes;
}

static int take_memory(size_t bytes, uint64_t *ret_offset)
{
    return tern_segment.base ? tern_segment_take(bytes, ret_offset) : TERN_ERR_NO_MEM;
}

int tern_board_make(int size, uint64_t *ret_offset)
{
    uint64_t offset;
    int rc = take_memory(bytes_for(size), &offset);
    if (rc)
        return rc;
    struct tern_board_area *areas = (struct tern_board_area *)(tern_segment.base + offset);
    areas[0].users = (uint32_t)size;
    *ret_offset = offset;
    return 0;
}

void tern_board_open(struct tern_board *board, uint64_t offset, int rank, int size)
{
    *board = (struct tern_board){
        .areas = (struct tern_board_area *)(tern_segment.base + offset),
        .offset = offset,
        .rank = rank,
        .size = size,
    };
    __atomic_store_n(&board->areas[rank].local_rank, tern_segment.local_rank + 1, __ATOMIC_RELAXED);
}

int tern_board_make_long(int size, int32_t bytes, uint64_t *ret_offset)
{
    return take_memory(long_bytes_for(size, bytes), ret_offset);
}

void tern_board_open_long(struct tern_board *board, uint64_t offset, int32_t bytes)
{
    board->long_sheets = tern_segment.base + offset;
    board->long_offset = offset;
    board->long_bytes = bytes;
}

void tern_board_close(struct tern_board *board)
{
    if (!board->areas)
        return;
    /* both orders: whoever takes the memory next must not meet our stores */
    if (tern_segment.base &&
        __atomic_sub_fetch(&board->areas[0].users, 1, __ATOMIC_ACQ_REL) == 0) {
        if (board->long_sheets)
            tern_segment_give(board->long_offset, long_bytes_for(board->size, board->long_bytes));
        tern_segment_give(board->offset, bytes_for(board->size));
    }
    *board = (struct tern_board){0};
}

/* --- where a post stands --- */

static enum place place_for(int64_t bytes)
{
    return bytes <= TERN_BOARD_SLOT_BYTES    ? IN_SLOT
           : bytes <= TERN_BOARD_SHEET_BYTES ? ON_SHEET
                                             : ON_LONG_SHEET;
}

static const uint32_t turns_ahead[] = {
    [IN_SLOT] = TERN_BOARD_SLOTS,
    [ON_SHEET] = TERN_BOARD_SHEETS,
    [ON_LONG_SHEET] = TERN_BOARD_LONG_SHEETS,
};

static struct slot *slot_of(const struct tern_board *board, uint32_t turn, int rank)
{
    return &board->areas[rank].slots[turn % TERN_BOARD_SLOTS];
}

static char *bytes_at(const struct tern_board *board, uint32_t turn, int rank, enum place place)
{
    if (place == IN_SLOT)
        return slot_of(board, turn, rank)->bytes;
    if (place == ON_SHEET)
        return board->areas[rank].sheets[turn % TERN_BOARD_SHEETS];
    size_t sheet = (size_t)rank * TERN_BOARD_LONG_SHEETS + turn % TERN_BOARD_LONG_SHEETS;
    return board->long_sheets + sheet * (size_t)board->long_bytes;
}

/* Have all done turn `turn`? */
static bool all_done(struct tern_board *board, uint32_t turn)
{
    uint32_t least = board->turn;
    for (int r = 0; r < board->size; r++) {
        /* acquire: what they have read, they have read before */
        uint32_t done = tern_load_acquire(&board->areas[r].done);
        if ((int32_t)(done - least) < 0)
            least = done;
    }
    board->known = least;
    return (int32_t)(least - turn) >= 0;
}

/* Those who sleep look at the board before they do, so who has not come yet need not be woken. */
static void wake_others(const struct tern_board *board)
{
    for (int r = 0; r < board->size; r++) {
        uint32_t local_rank = __atomic_load_n(&board->areas[r].local_rank, __ATOMIC_RELAXED);
        if (local_rank && r != board->rank)
            tern_doorbell_ring(&tern_segment_rank(local_rank - 1)->bell);
    }
}

/* --- a turn --- */

void *tern_board_room(struct tern_board *board, uint32_t turn, int64_t bytes)
{
    enum place place = place_for(bytes);
    uint32_t before = turn - turns_ahead[place];
    if ((int32_t)(board->known - before) < 0 && !all_done(board, before))
        return NULL;
    return bytes_at(board, turn, board->rank, place);
}

void tern_board_post(struct tern_board *board, uint32_t turn, int64_t bytes)
{
    struct slot *slot = slot_of(board, turn, board->rank);
    slot->place = place_for(bytes);
    /* release: whoever sees the turn sees the bytes */
    tern_store_release(&slot->turn, turn);
    wake_others(board);
}

const void *tern_board_look(const struct tern_board *board, uint32_t turn, int peer)
{
    const struct slot *slot = slot_of(board, turn, peer);
    /* acquire: pairs with the post */
    return tern_load_acquire(&slot->turn) == turn ? bytes_at(board, turn, peer, slot->place) : NULL;
}

void tern_board_done(struct tern_board *board, uint32_t turn)
{
    /* Whoever is in a later turn has seen that all have done the one 32 before: the bits suffice. */
    if (turn != board->done + 1) {
        board->done_also |= 1u << (turn - board->done - 2);
        return;
    }
    uint32_t before = board->done;
    do {
        board->done++;
        turn = board->done_also & 1;
        board->done_also >>= 1;
    } while (turn);
    tern_store_release(&board->areas[board->rank].done, board->done);
    /* Who sleeps for want of room is woken now and then: of as many turns as there are long sheets, all
     * of which are done in the end, one at least. */
    if (before / TERN_BOARD_LONG_SHEETS != board->done / TERN_BOARD_LONG_SHEETS)
        wake_others(board);
}
