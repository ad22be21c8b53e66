/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/shm/board.h"

#include "lib/btl/doorbell.h"
#include "lib/btl/shm/segment.h"
#include "lib/util/error.h"

struct slot {
    uint32_t turn; /* stored last */
    uint32_t spare;
    char bytes[TERN_BOARD_BYTES];
    char rest[56]; /* whole cache lines */
};
_Static_assert(sizeof(struct slot) % TERN_CACHE_LINE == 0, "slots share no cache line");

struct tern_board_area {
    uint32_t done __attribute__((aligned(TERN_CACHE_LINE))); /* turn */
    /* written once when the rank opens the board: 1 + its number on the node */
    uint32_t local_rank __attribute__((aligned(TERN_CACHE_LINE)));
    uint32_t users; /* of rank 0's area: who has the board open */
    struct slot slots[TERN_BOARD_SLOTS] __attribute__((aligned(TERN_CACHE_LINE)));
};

static size_t bytes_for(int size)
{
    return (size_t)size * sizeof(struct tern_board_area);
}

int tern_board_make(int size, uint64_t *ret_offset)
{
    uint64_t offset;
    int rc = tern_segment.base ? tern_segment_take(bytes_for(size), &offset) : TERN_ERR_NO_MEM;
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

void tern_board_close(struct tern_board *board)
{
    if (!board->areas)
        return;
    /* both orders: whoever takes the memory next must not meet our stores */
    if (tern_segment.base &&
        __atomic_sub_fetch(&board->areas[0].users, 1, __ATOMIC_ACQ_REL) == 0)
        tern_segment_give(board->offset, bytes_for(board->size));
    board->areas = NULL;
}

static struct slot *slot_of(const struct tern_board *board, int rank)
{
    return &board->areas[rank].slots[board->turn % TERN_BOARD_SLOTS];
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

void *tern_board_room(struct tern_board *board)
{
    uint32_t turn = board->turn - TERN_BOARD_SLOTS;
    if ((int32_t)(board->known - turn) < 0 && !all_done(board, turn))
        return NULL;
    return slot_of(board, board->rank)->bytes;
}

void tern_board_post(struct tern_board *board)
{
    /* release: whoever sees the turn sees the bytes */
    tern_store_release(&slot_of(board, board->rank)->turn, board->turn);
    for (int r = 0; r < board->size; r++) {
        /* Who has not come yet does not sleep for this: it looks at the board first. */
        uint32_t local_rank = __atomic_load_n(&board->areas[r].local_rank, __ATOMIC_RELAXED);
        if (local_rank && r != board->rank)
            tern_doorbell_ring(&tern_segment_rank(local_rank - 1)->bell);
    }
}

const void *tern_board_look(const struct tern_board *board, int peer)
{
    const struct slot *slot = slot_of(board, peer);
    /* acquire: pairs with the post */
    return tern_load_acquire(&slot->turn) == board->turn ? slot->bytes : NULL;
}

void tern_board_done(struct tern_board *board)
{
    tern_store_release(&board->areas[board->rank].done, board->turn);
}
