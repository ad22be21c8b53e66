/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/node/board.h"

#include "lib/node/doorbell.h"
#include "lib/node/segment.h"
#include "lib/settings/figures.h"
#include "lib/util/base/error.h"

#include <sched.h>
#include <stdlib.h>

enum place { IN_SLOT, ON_SHEET, ON_LONG_SHEET, FAILED };

struct slot {
    tern_turn turn; /* stored last */
    uint16_t place; /* enum place */
    uint16_t asks;  /* nonzero: readers shall take the lines of the post */
    uint32_t length; /* bytes of the post */
    char bytes[TERN_BOARD_SLOT_BYTES];
};
_Static_assert(sizeof(struct slot) == 2 * TERN_CACHE_LINE, "a short post is in the first line");

/* A rank's area; its slots and sheets follow behind. */
struct area {
    uint32_t done __attribute__((aligned(TERN_CACHE_LINE))); /* number of the last turn done */
    /* Local rank + 1. Written once when the rank opens the board. */
    uint32_t local_rank __attribute__((aligned(TERN_CACHE_LINE)));
    /* The next two are valid in rank 0's area: how many ranks have closed the board, and where the
     * long sheets are. */
    uint32_t closed;
    uint64_t long_offset;
    struct slot slots[] __attribute__((aligned(TERN_CACHE_LINE)));
};

/* The number of posts for which a rank whose posts were slow asks its readers to take the lines.
 * Where cores stay far apart two posts in 514 are slow then, some hundredths of the time. */
enum { ASKS = 512 };

/* Values of long_offset that are no offsets. */
enum { NOT_MADE = 0, BEING_MADE = 1, REFUSED = 2 };

static struct area *area_of(const struct tern_board *board, int rank)
{
    return (struct area *)(board->areas + (size_t)rank * board->area_bytes);
}

int tern_board_open(struct tern_board *board, const struct tern_segment_name *name, int rank,
                    int size, const struct tern_board_shape *shape)
{
    uint64_t offset;
    size_t bytes = sizeof(struct area) + shape->slots * sizeof(struct slot) +
                   shape->sheets * (size_t)shape->sheet_bytes;
    int rc = tern_segment_meet(name, (uint32_t)size, (size_t)size * bytes, &offset);
    if (rc)
        return rc;
    char *areas = tern_segment.base + offset;
    *board = (struct tern_board){
        .areas = areas,
        .mine = areas + (size_t)rank * bytes,
        .area_bytes = bytes,
        .shape = *shape,
        .rank = rank,
        .size = size,
    };
    __atomic_store_n(&area_of(board, rank)->local_rank, tern_segment.local_rank + 1,
                     __ATOMIC_RELAXED);
    return 0;
}

static size_t long_bytes_for(int size, int32_t bytes)
{
    return (size_t)size * TERN_BOARD_LONG_SHEETS * (size_t)bytes;
}

/* Returns the ticks for 1024 lines beyond which a post is slow. A line that takes more than twice
 * as long as one in no cache was not missing: the store has waited for other cores to give it up.
 * With the built-in figure that is 18 ns; stores that wait took 25 to 30, others 2 to 14
 * (docs/notes/2026-11-27-posts-between-far-cores.md). */
static uint32_t slow_limit(void)
{
    uint64_t line_ps = (uint64_t)tern_figure("coll_uncached_gap") * TERN_CACHE_LINE;
    uint64_t ticks = tern_ticks_of_us(1) * (line_ps * 7 / 3) * 1024 / 1000000;
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

int tern_board_lengthen(struct tern_board *board, int32_t bytes)
{
    uint64_t *place = &area_of(board, 0)->long_offset, seen = NOT_MADE, offset;
    if (__atomic_compare_exchange_n(place, &seen, BEING_MADE, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_ACQUIRE)) {
        seen = tern_segment_take(long_bytes_for(board->size, bytes), &offset) ? REFUSED : offset;
        /* release: a rank that sees the offset sees zeroed memory */
        __atomic_store_n(place, seen, __ATOMIC_RELEASE);
    }
    while (seen == BEING_MADE) { /* only while another rank makes a system call */
        sched_yield();
        seen = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    }
    if (seen == REFUSED)
        return TERN_ERR_NO_MEM;
    board->long_sheets = tern_segment.base + seen;
    board->long_bytes = bytes;
    board->limit = slow_limit();
    return 0;
}

void tern_board_close(struct tern_board *board)
{
    if (!board->areas)
        return;
    struct area *first = area_of(board, 0);
    /* both orders: the memory's next user must not meet our stores */
    if (tern_segment.base &&
        __atomic_add_fetch(&first->closed, 1, __ATOMIC_ACQ_REL) == (uint32_t)board->size) {
        if (first->long_offset > REFUSED)
            tern_segment_give(first->long_offset, long_bytes_for(board->size, board->long_bytes));
        tern_segment_part((uint64_t)(board->areas - tern_segment.base));
    }
    for (struct tern_board_skip *skip = board->skips, *next; skip; skip = next) {
        next = skip->next;
        free(skip);
    }
    *board = (struct tern_board){0};
}

/* --- places of posts --- */

static enum place place_for(const struct tern_board *board, int64_t bytes)
{
    return bytes <= TERN_BOARD_SLOT_BYTES        ? IN_SLOT
           : bytes <= board->shape.sheet_bytes ? ON_SHEET
                                               : ON_LONG_SHEET;
}

static uint32_t turns_ahead(const struct tern_board *board, enum place place)
{
    return place == IN_SLOT    ? board->shape.slots
           : place == ON_SHEET ? board->shape.sheets
                               : TERN_BOARD_LONG_SHEETS;
}

static struct slot *slot_of(const struct tern_board *board, uint32_t turn, char *area)
{
    return &((struct area *)area)->slots[turn & (board->shape.slots - 1)];
}

static char *bytes_at(const struct tern_board *board, uint32_t turn, int rank, struct slot *slot,
                      enum place place)
{
    if (place == IN_SLOT)
        return slot->bytes;
    if (__builtin_expect(place == FAILED, 0))
        return (char *)tern_board_failure;
    if (place == ON_SHEET)
        return (char *)(area_of(board, rank)->slots + board->shape.slots) +
               (size_t)(turn & (board->shape.sheets - 1)) * (size_t)board->shape.sheet_bytes;
    size_t sheet = (size_t)rank * TERN_BOARD_LONG_SHEETS + turn % TERN_BOARD_LONG_SHEETS;
    return board->long_sheets + sheet * (size_t)board->long_bytes;
}

/* Returns true if all ranks have done turn `turn`. */
static bool all_done(struct tern_board *board, uint32_t turn)
{
    uint32_t least = board->turn;
    for (int r = 0; r < board->size; r++) {
        /* acquire: the rank has read everything of the turn before */
        uint32_t done = tern_load_acquire(&area_of(board, r)->done);
        if ((int32_t)(done - least) < 0)
            least = done;
    }
    board->known = least;
    return (int32_t)(least - turn) >= 0;
}

/* Returns the rank's local rank + 1; 0: the rank has not opened the board yet. */
static uint32_t number_of(const struct tern_board *board, int rank)
{
    return __atomic_load_n(&area_of(board, rank)->local_rank, __ATOMIC_RELAXED);
}

/* Wakes the others. A rank that has not opened the board needs no wake: every rank looks at the
 * board before it sleeps. */
static void wake_others(const struct tern_board *board, uint32_t poster)
{
    for (int r = 0; r < board->size; r++) {
        uint32_t number = number_of(board, r);
        if (number && r != board->rank)
            tern_doorbell_ring_post(&tern_segment_rank(number - 1)->bell, poster);
    }
}

uint32_t tern_board_awaited(const struct tern_board *board, int peer)
{
    uint32_t number = peer < 0 ? 0 : number_of(board, peer);
    return number ? number : TERN_POSTS_OF_ANY;
}

/* --- a turn --- */

void *tern_board_room(struct tern_board *board, uint32_t turn, int64_t bytes)
{
    enum place place = place_for(board, bytes);
    uint32_t before = turn - turns_ahead(board, place);
    if ((int32_t)(board->known - before) < 0 && !all_done(board, before))
        return NULL;
    return bytes_at(board, turn, board->rank, slot_of(board, turn, board->mine), place);
}

/* Returns true if the readers of this rank's long post shall take its lines. A single slow post may
 * be the first one on these pages, or have been interrupted. */
static bool asks_readers(struct tern_board *board, uint32_t turn)
{
    uint8_t bit = (uint8_t)(1 << turn % TERN_BOARD_LONG_SHEETS);
    bool slow = board->wrote_slowly && !(board->asked & bit) && board->size > 2;
    if (slow && board->slow & bit)
        board->asks = ASKS;
    board->slow = (uint8_t)(slow ? board->slow | bit : board->slow & ~bit);
    bool asks = board->asks > 0;
    board->asked = (uint8_t)(asks ? board->asked | bit : board->asked & ~bit);
    board->asks -= asks;
    return asks;
}

bool tern_board_asks(const struct tern_board *board, uint32_t turn, int peer)
{
    return slot_of(board, turn, (char *)area_of(board, peer))->asks;
}

void tern_board_read(const struct tern_board *board, uint32_t turn, int peer, char *place,
                     int64_t bytes)
{
    if (peer == board->rank || bytes <= TERN_BOARD_SLOT_BYTES || !board->areas)
        return;
    if (board->size == 2 || tern_board_asks(board, turn, peer))
        tern_own_lines(place, bytes);
}

static void post(struct tern_board *board, tern_turn turn, enum place place, int64_t bytes)
{
    struct slot *slot = slot_of(board, (uint32_t)turn, board->mine);
    slot->place = (uint16_t)place;
    slot->length = (uint32_t)bytes;
    slot->asks = place == ON_LONG_SHEET && asks_readers(board, (uint32_t)turn);
    board->wrote_slowly = false;
    /* release: a rank that sees the turn sees the bytes */
    __atomic_store_n(&slot->turn, turn, __ATOMIC_RELEASE);
    wake_others(board, tern_segment.local_rank + 1);
}

void tern_board_post(struct tern_board *board, tern_turn turn, int64_t bytes)
{
    post(board, turn, place_for(board, bytes), bytes);
}

const char tern_board_failure[] = "";

void tern_board_post_failure(struct tern_board *board, tern_turn turn)
{
    post(board, turn, FAILED, 0);
}

const void *tern_board_look(const struct tern_board *board, tern_turn turn, int peer,
                            int64_t *ret_bytes)
{
    struct slot *slot = slot_of(board, (uint32_t)turn, (char *)area_of(board, peer));
    /* acquire: pairs with the post */
    bool posted = __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) == turn;
    *ret_bytes = slot->length;
    return posted ? bytes_at(board, (uint32_t)turn, peer, slot, slot->place) : NULL;
}

int tern_board_find_other(const struct tern_board *board, tern_turn turn, int after,
                          tern_turn *ret_other)
{
    for (int r = after + 1; board->areas && r < board->size; r++) {
        const struct slot *slot = slot_of(board, (uint32_t)turn, (char *)area_of(board, r));
        tern_turn posted = __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE);
        if (posted != turn && (uint32_t)posted == (uint32_t)turn) {
            *ret_other = posted;
            return r;
        }
    }
    return -1;
}

/* Returns true if the next turn is skipped, and counts it. */
static bool takes_skip(struct tern_board *board)
{
    struct tern_board_skip **at = &board->skips, *skip;
    while ((skip = *at) && skip->first != board->done + 1)
        at = &skip->next;
    if (!skip)
        return false;
    skip->first++;
    if (--skip->count == 0) {
        *at = skip->next;
        free(skip);
    }
    return true;
}

/* Counts the next turn as finished, and those behind it that were finished or skipped already. */
static void finish_turns(struct tern_board *board)
{
    uint32_t before = board->done;
    bool more;
    do {
        board->done++;
        more = board->done_also & 1;
        board->done_also >>= 1;
    } while (more || (TERN_UNLIKELY(board->skips != NULL) && takes_skip(board)));
    tern_store_release(&((struct area *)board->mine)->done, board->done);
    /* Wakes ranks that sleep until there is room, but not at each turn: only once in as many turns
     * as there are long sheets. All of these turns are done in the end, so at least one wake
     * comes. */
    if (before / TERN_BOARD_LONG_SHEETS != board->done / TERN_BOARD_LONG_SHEETS)
        wake_others(board, TERN_POSTS_OF_ANY);
}

void tern_board_done(struct tern_board *board, uint32_t turn)
{
    /* the bits suffice: a rank in a later turn has seen that all ranks have done the turn 32 before
     * or a nearer one */
    if (turn != board->done + 1)
        board->done_also |= 1u << (turn - board->done - 2);
    else
        finish_turns(board);
}

void tern_board_skip(struct tern_board *board, struct tern_board_skip *skip)
{
    skip->next = board->skips;
    board->skips = skip;
    if (takes_skip(board))
        finish_turns(board);
}
