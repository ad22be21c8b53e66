/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One list of free stretches for all of a half: the core's pieces come from below its end, the
 * program's memory from above. Offsets are plentiful, because the arena is larger than any memory,
 * and what is given back joins its neighbours. So a piece is refused only if there is no memory, or
 * if this process may have no more addresses.
 */

#include "lib/node/pieces.h"

#include "lib/node/extents.h"
#include "lib/node/free_memory.h"
#include "lib/node/pages.h"
#include "lib/node/segment.h"
#include "lib/node/shared_lock.h"
#include "lib/util/base/error.h"
#include "lib/util/net/launcher.h"

#include <sched.h>
#include <string.h>
#include <sys/sysinfo.h>

/* TABLE_MOST: stretches that the list has room for, of which pages are allocated when they are
 * used. CHECKED: fewer bytes are allocated without a look at how many are free. */
enum { PAGE = 4096, KEPT_SIZES = 6, TABLE_MOST = 32 << 10, TABLE_STEP = 256, CHECKED = 1 << 20 };

enum { NOT_BEGUN, BEGINNING, BEGUN };

struct shared_header {
    uint32_t state;
    /* nonzero: there was no memory even to record a refusal; nothing new is made from then on */
    uint32_t no_more;
    uint64_t bytes; /* of the half */
    /* Guards the list and `kept`. */
    struct tern_shared_lock lock;
    /* Small pieces of the core that were given back, by size (2^i pages), all of whose pages stay:
     * communicators and windows come and go, and a system call for their pages costs more than all
     * else. Offset of the piece given back last; the first word of each leads to the next. */
    uint64_t kept[KEPT_SIZES];
    uint64_t table_room; /* elements of each copy of the list that have pages */
    /* List of the memory by name for which not all users have asked yet, and its lock. */
    struct tern_shared_lock meeting_lock;
    uint64_t meetings;
    /* Taken by a rank that fills where little memory is free. */
    struct tern_shared_lock fill_gate;
};
_Static_assert(sizeof(struct shared_header) <= TERN_SEGMENT_LINES_AT, "in front of the rest");

/* Stands in front of memory that was taken by name. */
struct meeting {
    uint64_t next; /* offset of the next; 0: none */
    struct tern_segment_name name;
    uint64_t size; /* bytes, this header included */
    uint32_t missing; /* number of users that have not asked yet */
    /* nonzero: there was no memory; only this header exists, to give all users that answer */
    uint32_t refused;
} __attribute__((aligned(TERN_CACHE_LINE)));

static struct shared_header *header(void)
{
    return (struct shared_header *)tern_segment.base;
}

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* ---- the list of free stretches ---- */

static uint64_t table_start(void)
{
    return whole_pages(TERN_SEGMENT_RANKS_AT +
                       tern_segment.local_size * sizeof(struct tern_segment_rank));
}

size_t tern_segment_header_bytes(void)
{
    return table_start() + PAGE;
}

static struct tern_extents *table(void)
{
    return (struct tern_extents *)(tern_segment.base + table_start());
}

/* A small half has a short list, which takes a hundredth of the half at most. */
static uint32_t table_most(uint64_t bytes)
{
    uint64_t most = bytes / 100 / 2 / sizeof(struct tern_extent);
    return most < TABLE_MOST ? (uint32_t)most : TABLE_MOST;
}

static uint64_t first_piece(void)
{
    return whole_pages(table_start() + tern_extents_size(table()->most));
}

static int allocate_pages(uint64_t start, size_t size)
{
    return tern_pages_allocate(tern_segment.fd, tern_segment.start + start, size);
}

/* Allocates the pages of the list that the next change may use. Returns false if it cannot. */
static bool ready_table(void)
{
    struct shared_header *shared = header();
    struct tern_extents *extents = table();
    uint64_t room = tern_extents_needed(extents);
    if (TERN_LIKELY(room <= shared->table_room))
        return true;
    room = room + TABLE_STEP < extents->most ? room + TABLE_STEP : extents->most;
    size_t bytes = room * sizeof(struct tern_extent);
    for (uint64_t copy = 0; copy < 2; copy++) {
        char *at = (char *)(extents->elements + copy * extents->most);
        if (allocate_pages((uint64_t)(at - tern_segment.base), bytes))
            return false;
    }
    shared->table_room = room;
    return true;
}

static bool take_between(uint64_t size, uint64_t from, uint64_t to, uint64_t *ret_offset)
{
    tern_shared_lock_take(&header()->lock);
    bool taken = ready_table() && tern_extents_take(table(), size, from, to, ret_offset);
    tern_shared_lock_leave(&header()->lock);
    return taken;
}

/* If there is no memory to note it, the piece's addresses are lost. */
static void give_back(uint64_t offset, uint64_t size)
{
    tern_shared_lock_take(&header()->lock);
    if (ready_table())
        tern_extents_give(table(), offset, size);
    tern_shared_lock_leave(&header()->lock);
}

static void make_books(uint64_t half_bytes)
{
    struct shared_header *shared = header();
    shared->bytes = half_bytes;
    tern_shared_lock_begin(&shared->lock);
    tern_shared_lock_begin(&shared->meeting_lock);
    tern_shared_lock_begin(&shared->fill_gate);
    tern_extents_begin(table(), table_most(half_bytes));
    if (ready_table())
        tern_extents_give(table(), first_piece(), half_bytes - first_piece());
}

void tern_segment_begin(uint64_t half_bytes)
{
    uint32_t *state = &header()->state, seen = NOT_BEGUN;
    if (__atomic_compare_exchange_n(state, &seen, BEGINNING, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_ACQUIRE)) {
        make_books(half_bytes);
        /* release: a rank that sees it sees the books */
        tern_store_release(state, BEGUN);
    }
    while (tern_load_acquire(state) != BEGUN)
        sched_yield();
}

size_t tern_segment_used(void)
{
    return tern_segment.base ? header()->bytes - tern_extents_free(table()) : 0;
}

/* ---- pieces of the core ---- */

static int take_pages(size_t size, uint64_t *ret_offset)
{
    if (size > tern_segment.core || !take_between(size, 0, tern_segment.core, ret_offset))
        return TERN_ERR_NO_MEM;
    if (allocate_pages(*ret_offset, size) == 0)
        return 0;
    give_back(*ret_offset, size);
    return TERN_ERR_NO_MEM;
}

int tern_segment_allocate(size_t size, uint64_t *ret_offset)
{
    return take_pages(size, ret_offset);
}

/* Takes a piece out of a list. Returns its offset, or 0 if the list is empty. */
static uint64_t pop(uint64_t *list)
{
    tern_shared_lock_take(&header()->lock);
    uint64_t offset = *list;
    if (offset)
        *list = *(uint64_t *)(tern_segment.base + offset);
    tern_shared_lock_leave(&header()->lock);
    if (offset)
        *(uint64_t *)(tern_segment.base + offset) = 0;
    return offset;
}

static void push(uint64_t *list, uint64_t offset)
{
    tern_shared_lock_take(&header()->lock);
    *(uint64_t *)(tern_segment.base + offset) = *list;
    *list = offset;
    tern_shared_lock_leave(&header()->lock);
}

static int size_class(size_t size)
{
    int class = 0;
    while (class < KEPT_SIZES && (size_t)PAGE << class < size)
        class++;
    return class;
}

/* Returns the bytes that a piece takes. */
static uint64_t taken_bytes(size_t size)
{
    int class = size_class(size);
    return class < KEPT_SIZES ? (uint64_t)PAGE << class : whole_pages(size);
}

/* Gives back the pages of all kept pieces. Returns false if there are none. */
static bool let_go(void)
{
    bool any = false;
    for (int class = 0; class < KEPT_SIZES; class++)
        for (uint64_t offset; (offset = pop(&header()->kept[class])); any = true)
            tern_segment_unclaim(offset, (size_t)PAGE << class);
    return any;
}

int tern_segment_take(size_t size, uint64_t *ret_offset)
{
    int class = size_class(size);
    uint64_t offset = class < KEPT_SIZES ? pop(&header()->kept[class]) : 0;
    if (!offset && take_pages(taken_bytes(size), &offset) &&
        (!let_go() || take_pages(taken_bytes(size), &offset)))
        return TERN_ERR_NO_MEM;
    *ret_offset = offset;
    return 0;
}

void tern_segment_give(uint64_t offset, size_t size)
{
    int class = size_class(size);
    if (class >= KEPT_SIZES) {
        tern_segment_unclaim(offset, size);
        return;
    }
    memset(tern_segment.base + offset, 0, (size_t)PAGE << class);
    push(&header()->kept[class], offset);
}

/* ---- the program's memory ---- */

int tern_segment_claim(size_t size, bool must, uint64_t *ret_offset)
{
    uint64_t bytes = whole_pages(size);
    /* where the addresses have less room than the node's memory, they may be what is short */
    bool unmapped = must && bytes >= size && tern_segment.room < header()->bytes &&
                    bytes <= header()->bytes;
    if (bytes < size)
        return TERN_ERR_NO_SPACE;
    if ((must || !tern_segment.limited) &&
        take_between(bytes, tern_segment.core, tern_segment.room, ret_offset)) {
        if (tern_segment_reach(*ret_offset + bytes))
            return 0;
        give_back(*ret_offset, bytes);
        unmapped = true;
    }
    if (take_between(bytes, 0, tern_segment.core, ret_offset))
        return 0;
    return unmapped ? TERN_ERR_NO_MEM : TERN_ERR_NO_SPACE;
}

int tern_segment_refuse(size_t size)
{
    bool cut = header()->bytes < TERN_NODE_ARENA_BYTES;
    struct sysinfo node;
    if (!cut && sysinfo(&node) == 0 && size / node.mem_unit > node.totalram + node.totalswap)
        return tern_error(TERN_ERR_NO_MEM,
                          "a window needs %zu MiB on this node, which has %llu MiB of memory; "
                          "use smaller windows or more nodes",
                          size >> 20,
                          ((unsigned long long)node.totalram + node.totalswap) * node.mem_unit >>
                              20);
    return tern_error(TERN_ERR_NO_MEM,
                      "a window needs %zu MiB, but the shared memory of this node has %zu MiB, of "
                      "which %zu are in use%s",
                      size >> 20, (size_t)header()->bytes >> 20, tern_segment_used() >> 20,
                      cut ? ": files of the launcher may be no larger; raise the limit (ulimit "
                            "-f), or use smaller windows"
                          : "; free windows, or use smaller ones");
}

/* If the system does not take pages back, the next user must find zeros all the same. */
void tern_segment_unclaim(uint64_t offset, size_t size)
{
    uint64_t bytes = whole_pages(size);
    if (!tern_segment_discard(offset, bytes))
        memset(tern_segment.base + offset, 0, bytes);
    give_back(offset, bytes);
}

/* ---- filling ---- */

/*
 * Ranks that fill at the same time all see the memory that is free before. So each rank notes how
 * many bytes it is about to allocate (`filling` of its block), and holds the lock `fill_lock` of
 * its block meanwhile. If all that the ranks of the node have noted is not free, a rank takes its
 * note back, waits for its turn (`fill_gate`), and then until all others have allocated what they
 * have noted. Only the rank whose turn it is waits for others, so there is no circle.
 */

static void note_filling(struct tern_segment_rank *block, uint64_t bytes)
{
    /* both orders: of two ranks that note at a time, one at least sees the other's note */
    __atomic_store_n(&block->filling, bytes, __ATOMIC_SEQ_CST);
}

static uint64_t sum_filling(void)
{
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < tern_segment.local_size; rank++)
        sum += __atomic_load_n(&tern_segment_rank(rank)->filling, __ATOMIC_SEQ_CST);
    return sum;
}

/* Waits until no other rank fills; what killed ranks have noted does not count. */
static void await_others(const struct tern_segment_rank *own)
{
    for (uint32_t rank = 0; rank < tern_segment.local_size; rank++) {
        struct tern_segment_rank *block = tern_segment_rank(rank);
        if (block == own || !__atomic_load_n(&block->filling, __ATOMIC_SEQ_CST))
            continue;
        tern_shared_lock_take(&block->fill_lock);
        note_filling(block, 0);
        tern_shared_lock_leave(&block->fill_lock);
    }
}

static int allocate_or_say(uint64_t offset, size_t size)
{
    int error = allocate_pages(offset, size);
    if (!error)
        return 0;
    return tern_error(TERN_ERR_NO_MEM, "the system refuses %zu MiB of shared memory: %s",
                      size >> 20, strerror(-error));
}

/* Begins to fill if so many bytes are free. Leaves the lock taken if they are. */
static bool begin_filling(struct tern_segment_rank *own, size_t size, bool alone,
                          char text[TERN_FREE_MEMORY_TEXT])
{
    tern_shared_lock_take(&own->fill_lock);
    note_filling(own, size);
    if (alone)
        await_others(own);
    if (tern_free_memory("", text) >= tern_free_memory_needed(alone ? size : sum_filling()))
        return true;
    note_filling(own, 0);
    tern_shared_lock_leave(&own->fill_lock);
    return false;
}

static int fill_checked(uint64_t offset, size_t size)
{
    char text[TERN_FREE_MEMORY_TEXT];
    struct tern_segment_rank *own = tern_segment_rank(tern_segment.local_rank);
    bool begun = begin_filling(own, size, false, text);
    if (!begun) {
        tern_shared_lock_take(&header()->fill_gate);
        begun = begin_filling(own, size, true, text);
        tern_shared_lock_leave(&header()->fill_gate);
    }
    if (!begun)
        return tern_free_memory_refuse(size, text);
    int rc = allocate_or_say(offset, size);
    note_filling(own, 0);
    tern_shared_lock_leave(&own->fill_lock);
    return rc;
}

int tern_segment_fill(uint64_t offset, size_t size)
{
    return size < CHECKED ? allocate_or_say(offset, size) : fill_checked(offset, size);
}

/* ---- memory by name ---- */

static struct meeting *meeting_at(uint64_t offset)
{
    return (struct meeting *)(tern_segment.base + offset);
}

static bool same_name(const struct tern_segment_name *a, const struct tern_segment_name *b)
{
    return a->context == b->context && a->leader == b->leader && a->serial == b->serial;
}

/* Makes memory by name for the first user. If there is none, records a refusal: the other users
 * must get the same answer, even if memory is given back meanwhile. Returns the offset, or 0 if
 * there is no memory even for the refusal. */
static uint64_t begin_meeting(const struct tern_segment_name *name, uint32_t users, size_t size)
{
    uint64_t offset = 0;
    bool refused = tern_segment_take(size, &offset);
    if (refused && tern_segment_take(PAGE, &offset)) {
        header()->no_more = 1;
        return 0;
    }
    *meeting_at(offset) = (struct meeting){
        .next = header()->meetings,
        .name = *name,
        .size = refused ? PAGE : size,
        .missing = users,
        .refused = refused,
    };
    return header()->meetings = offset;
}

int tern_segment_meet(const struct tern_segment_name *name, uint32_t users, size_t size,
                      uint64_t *ret_offset)
{
    if (!tern_segment.base)
        return TERN_ERR_NO_MEM;
    tern_shared_lock_take(&header()->meeting_lock);
    /* another rank may have taken memory that we gave back, for a meeting */
    tern_comes_after(&header()->lock);
    uint64_t *at = &header()->meetings;
    while (*at && !same_name(&meeting_at(*at)->name, name))
        at = &meeting_at(*at)->next;
    uint64_t offset = *at;
    if (!offset && !header()->no_more) {
        offset = begin_meeting(name, users, size + sizeof(struct meeting));
        at = &header()->meetings;
    }
    bool refused = !offset || meeting_at(offset)->refused;
    if (offset && --meeting_at(offset)->missing == 0) {
        *at = meeting_at(offset)->next;
        if (refused)
            tern_segment_give(offset, PAGE);
    }
    tern_shared_lock_leave(&header()->meeting_lock);
    if (refused)
        return TERN_ERR_NO_MEM;
    *ret_offset = offset + sizeof(struct meeting);
    return 0;
}

void tern_segment_part(uint64_t offset)
{
    offset -= sizeof(struct meeting);
    tern_segment_give(offset, meeting_at(offset)->size);
}
