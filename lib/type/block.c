/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Moves equal blocks, and short runs of any lengths.
 *
 * A call of memcpy costs as much as moving a hundred bytes or more. So blocks up to CALL_MIN bytes
 * are moved here. Some small sizes have their own loops. For other sizes, loops move two or four
 * registers that overlap, instead of continuing in smaller steps. Runs of different lengths would
 * cost one mispredicted branch each; processors with masks (AVX-512) need no branch. The code asks
 * the processor at run time for its registers, because the library is built for every x86-64.
 *
 * A transfer larger than the caches is streamed past them, as memcpy does, if the processor can
 * write a whole line at once (AVX-512; with narrower registers streaming was slower). Then no line
 * is read only to be overwritten. Lines that a block covers partly are written as usual. The
 * hardware's prefetching fails at gaps, so the code prefetches the next data.
 */
#include "lib/type/block.h"

#include "lib/type/type_program.h"

#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* A loop of six to ten instructions takes up to half as long again if it crosses a cache line. */
#if !defined(__clang__)
#pragma GCC optimize("align-loops=32")
#endif

enum {
    /* from this size on memcpy moves a block: it aligns, and it knows the caches */
    CALL_MIN = 8192,
    STREAM_MAX = 1 << 20, /* from this size on memcpy streams, too, or should not */
    AHEAD = 2048,         /* prefetch distance, in bytes of data */
    PACKED_AHEAD = 1024,  /* prefetch distance in the packed stream, for blocks of a few bytes */
};

#define INLINED __attribute__((always_inline)) static inline

/* How a block is moved. All members are compile-time constants. */
struct moves {
    enum how {
        WHOLE, /* memcpy; `size` is a constant, or large */
        /* `heads` moves of `width` bytes from the beginning, and one of the last `tail` bytes,
         * which may overlap the move before */
        ENDS,
        STEPS, /* as many moves of `width` bytes as fit, and one of the last `width` bytes */
    } how;
    size_t heads, width, tail;
};

INLINED void copy_block(char *to, const char *from, size_t size, struct moves moves)
{
    size_t i = 0;
    if (moves.how == WHOLE) {
        memcpy(to, from, size);
    } else if (moves.how == ENDS) {
#pragma GCC unroll 4
        for (size_t head = 0; head < moves.heads; head++)
            memcpy(to + head * moves.width, from + head * moves.width, moves.width);
        memcpy(to + size - moves.tail, from + size - moves.tail, moves.tail);
    } else {
        for (; i + moves.width <= size; i += moves.width)
            memcpy(to + i, from + i, moves.width);
        if (i < size)
            memcpy(to + size - moves.width, from + size - moves.width, moves.width);
    }
}

/* Copies a block in one direction. `pack` is a compile-time constant from here to move_one_way. */
INLINED void copy(bool pack, char *packed, char *at, size_t size, struct moves moves)
{
    copy_block(pack ? packed : at, pack ? at : packed, size, moves);
}

/* Returns how many strided blocks of a few bytes are moved in one turn: as many as fill a line of
 * the packed stream. The compiler can then move several by one register. Returns 0 if the blocks
 * are larger. The packed stream of small blocks is prefetched when it is read: it is often in
 * another processor's cache, and there are too many instructions between two lines. */
INLINED int64_t per_line(size_t size, struct moves moves)
{
    return moves.how == WHOLE && size <= 8 ? (int64_t)(64 / size) : 0;
}

INLINED void strided_row(bool pack, char *packed, char *at, int64_t count, int64_t stride,
                         size_t size, struct moves moves)
{
    for (int64_t n = per_line(size, moves); n && count >= n; count -= n) {
        if (!pack)
            __builtin_prefetch(packed + PACKED_AHEAD);
#pragma GCC unroll 8
        for (int64_t k = 0; k < n; k++, packed += size, at = tern_block_at(at, stride))
            copy(pack, packed, at, size, moves);
    }
    for (; count > 0; count--, packed += size, at = tern_block_at(at, stride))
        copy(pack, packed, at, size, moves);
}

INLINED void placed_row(bool pack, char *packed, char *base, int64_t count, const int64_t *places,
                        size_t size, struct moves moves)
{
    const int64_t *end = places + count;
    for (; places < end; places++, packed += size) {
        if (!pack && size <= 8)
            __builtin_prefetch(packed + PACKED_AHEAD);
        copy(pack, packed, tern_block_at(base, *places), size, moves);
    }
}

/* Returns the offset of row `i` from base. */
static inline int64_t row_at(const struct tern_block_rows *blocks, int64_t i)
{
    return blocks->row_places ? blocks->row_places[i] : i * blocks->row_stride;
}

/* Moves rows of either kind of blocks, so that block sizes are chosen in one place only. */
INLINED void move_one_way(bool pack, char *packed, const struct tern_block_rows *all, size_t size,
                          struct moves moves)
{
    /* a copy, which stays in registers: the stores cannot change it */
    const struct tern_block_rows blocks = *all;
    size_t row_size = (size_t)blocks.count * size;
    for (int64_t i = 0; i < blocks.rows; i++, packed += row_size) {
        char *at = tern_block_at(blocks.base, row_at(&blocks, i));
        if (blocks.places)
            placed_row(pack, packed, at, blocks.count, blocks.places, size, moves);
        else
            strided_row(pack, packed, at, blocks.count, blocks.stride, size, moves);
    }
}

INLINED void move(bool pack, char *packed, const struct tern_block_rows *blocks, size_t size,
                  struct moves moves)
{
    if (pack)
        move_one_way(true, packed, blocks, size, moves);
    else
        move_one_way(false, packed, blocks, size, moves);
}

static const struct moves whole = {.how = WHOLE};

INLINED struct moves ends(size_t heads, size_t width, size_t tail)
{
    return (struct moves){ENDS, heads, width, tail};
}

INLINED struct moves steps_of(size_t width)
{
    return (struct moves){STEPS, 0, width, 0};
}

/* --- runs --- */

/* Copies a run of any length. */
INLINED void copy_run(char *to, const char *from, size_t size)
{
    if (size > 64)
        memcpy(to, from, size);
    else if (size > 48)
        copy_block(to, from, size, ends(3, 16, 16));
    else if (size > 32)
        copy_block(to, from, size, ends(2, 16, 16));
    else if (size > 16)
        copy_block(to, from, size, ends(1, 16, 16));
    else if (size > 8)
        copy_block(to, from, size, ends(1, 8, 8));
    else if (size >= 4)
        copy_block(to, from, size, ends(1, 4, 4));
    else if (size >= 2)
        copy_block(to, from, size, ends(1, 2, 2));
    else
        *to = *from;
}

/* Moves rows of runs. `copy` moves one run, whose size is at most the longest run's. */
INLINED void move_runs_by(bool pack, char *packed, const struct tern_block_rows *blocks,
                          void (*copy)(char *to, const char *from, size_t size))
{
    const struct tern_entry *list = blocks->list, *end = list + blocks->count;
    for (int64_t i = 0; i < blocks->rows; i++, packed += end->at - list->at) {
        char *base = tern_block_at(blocks->base, row_at(blocks, i)), *stream = packed - list->at;
        for (const struct tern_entry *entry = list; entry < end; entry++) {
            char *at = tern_block_at(base, entry->offset), *in_stream = stream + entry->at;
            copy(pack ? in_stream : at, pack ? at : in_stream, (size_t)(entry[1].at - entry->at));
        }
    }
}

static void move_runs_plain(bool pack, char *packed, const struct tern_block_rows *blocks)
{
    if (pack)
        move_runs_by(true, packed, blocks, copy_run);
    else
        move_runs_by(false, packed, blocks, copy_run);
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) static void
move_32(bool pack, char *packed, const struct tern_block_rows *blocks, size_t size)
{
    if (size == 32)
        move(pack, packed, blocks, 32, whole);
    else if (size <= 36)
        move(pack, packed, blocks, size, ends(1, 32, 4));
    else if (size == 40)
        move(pack, packed, blocks, 40, ends(2, 16, 8));
    else if (size <= 40)
        move(pack, packed, blocks, size, ends(1, 32, 8));
    else if (size <= 48)
        move(pack, packed, blocks, size, ends(1, 32, 16));
    else if (size <= 52)
        move(pack, packed, blocks, size, ends(3, 16, 4));
    else if (size <= 56)
        move(pack, packed, blocks, size, ends(3, 16, 8));
    else if (size <= 64)
        move(pack, packed, blocks, size, ends(1, 32, 32));
    else if (size <= 96)
        move(pack, packed, blocks, size, ends(2, 32, 32));
    else if (size <= 128)
        move(pack, packed, blocks, size, ends(3, 32, 32));
    else
        move(pack, packed, blocks, size, steps_of(32));
}

__attribute__((target("avx512f"))) static void
move_64(bool pack, char *packed, const struct tern_block_rows *blocks, size_t size)
{
    if (size == 64)
        move(pack, packed, blocks, 64, whole);
    else if (size <= 128)
        move(pack, packed, blocks, size, ends(1, 64, 64));
    else if (size <= 192)
        move(pack, packed, blocks, size, ends(2, 64, 64));
    else if (size <= 256)
        move(pack, packed, blocks, size, ends(3, 64, 64));
    else if (size == 512)
        move(pack, packed, blocks, 512, steps_of(64));
    else
        move(pack, packed, blocks, size, steps_of(64));
}

/* Moves the blocks by wide registers. Returns false if the processor has none. */
static bool move_wide(bool pack, char *packed, const struct tern_block_rows *blocks, size_t size)
{
    if (size >= 64 && __builtin_cpu_supports("avx512f"))
        move_64(pack, packed, blocks, size);
    else if (size >= 32 && __builtin_cpu_supports("avx2"))
        move_32(pack, packed, blocks, size);
    else
        return false;
    return true;
}

#define STREAMING "avx512f,avx512bw"

/* Returns the mask of a register's first `bytes` lanes. */
static inline uint64_t first_lanes(size_t bytes)
{
    return bytes < 64 ? (UINT64_C(1) << bytes) - 1 : ~UINT64_C(0);
}

/* Streams a block. `next`: distance to the data that is read next, for the prefetch. */
__attribute__((target(STREAMING))) static inline void stream_block(char *to, const char *from,
                                                                   size_t size, int64_t next)
{
    size_t i = -(uintptr_t)to & 63;
    if (i > size)
        i = size;
    if (i > 0) {
        __mmask64 head = first_lanes(i);
        _mm512_mask_storeu_epi8(to, head, _mm512_maskz_loadu_epi8(head, from));
        _mm_prefetch(tern_block_at((char *)from, next), _MM_HINT_T0);
    }
    for (; i + 64 <= size; i += 64) {
        _mm_prefetch(tern_block_at((char *)from, next + (int64_t)i), _MM_HINT_T0);
        _mm512_stream_si512((void *)(to + i), _mm512_loadu_si512(from + i));
    }
    if (i < size) {
        __mmask64 tail = first_lanes(size - i);
        _mm512_mask_storeu_epi8(to + i, tail, _mm512_maskz_loadu_epi8(tail, from + i));
    }
}

__attribute__((target(STREAMING))) static void stream(bool pack, char *packed,
                                                      const struct tern_block_rows *blocks)
{
    size_t size = blocks->size;
    int64_t turns = (AHEAD + (int64_t)size - 1) / (int64_t)size;
    /* unsigned: the product may wrap beyond the end, where nothing is read */
    int64_t next = (int64_t)((uint64_t)turns * (uint64_t)(pack ? blocks->stride : (int64_t)size));
    for (int64_t i = 0; i < blocks->rows; i++) {
        char *begin = tern_block_at(blocks->base, row_at(blocks, i));
        for (int64_t k = 0; k < blocks->count; k++, packed += size) {
            char *at =
                tern_block_at(begin, blocks->places ? blocks->places[k] : k * blocks->stride);
            stream_block(pack ? packed : at, pack ? at : packed, size, next);
        }
    }
    _mm_sfence(); /* a thread that learns of the bytes by an ordinary store must see them */
}

/* A masked register moves the first `bytes` lanes, and only those, so a run's length needs no
 * branch. A narrow register crosses the end of a line less often. */
#define MASKED "avx512f,avx512bw,avx512vl"

__attribute__((target(MASKED))) static inline void copy_masked_16(char *to, const char *from,
                                                                  size_t size)
{
    __mmask16 mask = (__mmask16)first_lanes(size);
    _mm_mask_storeu_epi8(to, mask, _mm_maskz_loadu_epi8(mask, from));
}

__attribute__((target(MASKED))) static inline void copy_masked_32(char *to, const char *from,
                                                                  size_t size)
{
    __mmask32 mask = (__mmask32)first_lanes(size);
    _mm256_mask_storeu_epi8(to, mask, _mm256_maskz_loadu_epi8(mask, from));
}

__attribute__((target(MASKED))) static inline void copy_masked_64(char *to, const char *from,
                                                                  size_t size)
{
    __mmask64 mask = first_lanes(size);
    _mm512_mask_storeu_epi8(to, mask, _mm512_maskz_loadu_epi8(mask, from));
}

__attribute__((target(MASKED))) static inline void copy_masked(char *to, const char *from,
                                                               size_t size)
{
    if (size <= 64)
        copy_masked_64(to, from, size);
    else if (size < CALL_MIN)
        copy_block(to, from, size, steps_of(64));
    else
        memcpy(to, from, size);
}

__attribute__((target(MASKED))) static void move_runs_masked(bool pack, char *packed,
                                                             const struct tern_block_rows *blocks)
{
    if (blocks->size <= 16)
        move_runs_by(pack, packed, blocks, copy_masked_16);
    else if (blocks->size <= 32)
        move_runs_by(pack, packed, blocks, copy_masked_32);
    else if (blocks->size <= 64)
        move_runs_by(pack, packed, blocks, copy_masked_64);
    else
        move_runs_by(pack, packed, blocks, copy_masked);
}

static void move_runs(bool pack, char *packed, const struct tern_block_rows *blocks)
{
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        move_runs_masked(pack, packed, blocks);
    else
        move_runs_plain(pack, packed, blocks);
}

static bool can_stream(size_t size)
{
    return size >= 64 && size < STREAM_MAX && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw");
}

#else

static void move_runs(bool pack, char *packed, const struct tern_block_rows *blocks)
{
    move_runs_plain(pack, packed, blocks);
}

static bool can_stream(size_t size)
{
    (void)size;
    return false;
}

static void stream(bool pack, char *packed, const struct tern_block_rows *blocks)
{
    (void)pack, (void)packed, (void)blocks;
}

static bool move_wide(bool pack, char *packed, const struct tern_block_rows *blocks, size_t size)
{
    (void)pack, (void)packed, (void)blocks, (void)size;
    return false;
}

#endif

void tern_block_move(bool pack, char *packed, const struct tern_block_rows *blocks)
{
    size_t size = blocks->size;
    if (blocks->list) {
        move_runs(pack, packed, blocks);
        return;
    }
    if (blocks->streamed && can_stream(size)) {
        stream(pack, packed, blocks);
        return;
    }
    switch (size) {
    case 1: move(pack, packed, blocks, 1, whole); return;
    case 2: move(pack, packed, blocks, 2, whole); return;
    case 4: move(pack, packed, blocks, 4, whole); return;
    case 8: move(pack, packed, blocks, 8, whole); return;
    case 12: move(pack, packed, blocks, 12, whole); return;
    case 20: move(pack, packed, blocks, 20, whole); return;
    case 24: move(pack, packed, blocks, 24, whole); return;
    case 16: move(pack, packed, blocks, 16, whole); return;
    }
    if (size >= CALL_MIN)
        move(pack, packed, blocks, size, whole);
    else if (move_wide(pack, packed, blocks, size))
        return;
    else if (size > 64)
        move(pack, packed, blocks, size, steps_of(16));
    else if (size > 48)
        move(pack, packed, blocks, size, ends(3, 16, 16));
    else if (size > 32)
        move(pack, packed, blocks, size, ends(2, 16, 16));
    else if (size > 24)
        move(pack, packed, blocks, size, ends(1, 16, 16));
    else if (size > 20)
        move(pack, packed, blocks, size, ends(1, 16, 8));
    else if (size > 16)
        move(pack, packed, blocks, size, ends(1, 16, 4));
    else if (size > 12)
        move(pack, packed, blocks, size, ends(1, 8, 8));
    else if (size > 8)
        move(pack, packed, blocks, size, ends(1, 8, 4));
    else if (size > 4)
        move(pack, packed, blocks, size, ends(1, 4, 4));
    else
        move(pack, packed, blocks, size, ends(1, 2, 2));
}

int64_t tern_block_stream_min(void)
{
    static int64_t bytes; /* all threads store the same value */
    int64_t known = __atomic_load_n(&bytes, __ATOMIC_RELAXED);
    if (known)
        return known;
    known = sysconf(_SC_LEVEL3_CACHE_SIZE) / 2;
    if (known < 16 << 20)
        known = 16 << 20;
    __atomic_store_n(&bytes, known, __ATOMIC_RELAXED);
    return known;
}
