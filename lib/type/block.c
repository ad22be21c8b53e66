/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Equal blocks.
 *
 * A call of memcpy costs as much as moving a hundred bytes or more. So blocks up to CALL_MIN bytes
 * are moved here: loops made for the common small sizes, and for the others a loop of the widest
 * register that fits in a block, whose last move overlaps the one before rather than to go on in
 * smaller steps. Which registers there are is asked of the processor at run time; the library is
 * built for every x86-64.
 *
 * What is larger than the caches is streamed past them, as memcpy does it, where the processor can
 * write a whole line at once (AVX-512; with narrower registers it was slower): no line is read only
 * to be overwritten. Lines of which a block has a part are written as usual. The hardware's
 * prefetching loses its way at gaps, so what comes next is asked for in time.
 */
#include "lib/type/block.h"

#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    CALL_MIN = 8192, /* from here on memcpy moves a block: it aligns, and it knows the caches */
    STREAM_MAX = 1 << 20, /* from here on it streams, too, or should not */
    AHEAD = 2048,         /* bytes of data between a line and the one asked for */
    PACKED_AHEAD = 1024,  /* the same in the packed stream, for blocks of a few bytes */
};

#define INLINED __attribute__((always_inline)) static inline

/* `step` is a constant, step <= size: whole steps, then one that ends with the block. */
INLINED void copy_steps(char *to, const char *from, size_t size, size_t step)
{
    size_t i = 0;
    for (; i + step <= size; i += step)
        memcpy(to + i, from + i, step);
    if (i < size)
        memcpy(to + size - step, from + size - step, step);
}

/* `step` 0: `size` is a constant, or large, and memcpy does it. */
INLINED void copy_block(char *to, const char *from, size_t size, size_t step)
{
    if (step == 0)
        memcpy(to, from, size);
    else
        copy_steps(to, from, size, step);
}

/* `pack` is a constant, from here to move_one_way. */
INLINED void copy(bool pack, char *packed, char *at, size_t size, size_t step)
{
    copy_block(pack ? packed : at, pack ? at : packed, size, step);
}

/* Blocks of a few bytes: as many as there are in a line of the packed stream are moved in one turn, so that the compiler can
 * move several by one register, and the stream, which is often in another processor's cache, is asked for in time: there are
 * too many instructions between two lines. 0: not so small. */
INLINED int64_t per_line(size_t size, size_t step)
{
    return step == 0 && size <= 8 ? (int64_t)(64 / size) : 0;
}

INLINED void row(bool pack, char *packed, char *at, int64_t count, int64_t stride, size_t size,
                 size_t step)
{
    for (int64_t n = per_line(size, step); n && count >= n; count -= n) {
        if (!pack)
            __builtin_prefetch(packed + PACKED_AHEAD);
#pragma GCC unroll 8
        for (int64_t k = 0; k < n; k++, packed += size, at = tern_block_at(at, stride))
            copy(pack, packed, at, size, step);
    }
    for (; count > 0; count--, packed += size, at = tern_block_at(at, stride))
        copy(pack, packed, at, size, step);
}

INLINED void single(bool pack, char *packed, const struct tern_blocks *blocks, size_t size,
                    size_t step)
{
    const int64_t *places = blocks->places, *end = places + blocks->rows;
    char *base = blocks->base;
    for (int64_t n = per_line(size, step); n && end - places >= n;) {
        if (!pack)
            __builtin_prefetch(packed + PACKED_AHEAD);
#pragma GCC unroll 8
        for (int64_t k = 0; k < n; k++, places++, packed += size)
            copy(pack, packed, tern_block_at(base, *places), size, step);
    }
    for (; places < end; places++, packed += size)
        copy(pack, packed, tern_block_at(base, *places), size, step);
}

/* All three shapes, so that sizes are chosen in one place. */
INLINED void move_one_way(bool pack, char *packed, const struct tern_blocks *blocks, size_t size,
                          size_t step)
{
    int64_t rows = blocks->rows, count = blocks->count, stride = blocks->stride;
    const int64_t *places = blocks->places;
    char *base = blocks->base;
    if (places && count == 1)
        single(pack, packed, blocks, size, step);
    else if (places)
        for (int64_t i = 0; i < rows; i++, packed += (size_t)count * size)
            row(pack, packed, tern_block_at(base, places[i]), count, stride, size, step);
    else
        for (; rows > 0;
             rows--, packed += (size_t)count * size, base = tern_block_at(base, blocks->row_stride))
            row(pack, packed, base, count, stride, size, step);
}

INLINED void move(bool pack, char *packed, const struct tern_blocks *blocks, size_t size,
                  size_t step)
{
    if (pack)
        move_one_way(true, packed, blocks, size, step);
    else
        move_one_way(false, packed, blocks, size, step);
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) static void move_32(bool pack, char *packed,
                                                    const struct tern_blocks *blocks, size_t size)
{
    switch (size) {
    case 32: move(pack, packed, blocks, 32, 0); break;
    case 40: move(pack, packed, blocks, 40, 0); break;
    case 48: move(pack, packed, blocks, 48, 0); break;
    case 64: move(pack, packed, blocks, 64, 0); break;
    default:
        move(pack, packed, blocks, size, 32);
    }
}

__attribute__((target("avx512f"))) static void
move_64(bool pack, char *packed, const struct tern_blocks *blocks, size_t size)
{
    switch (size) {
    case 64: move(pack, packed, blocks, 64, 64); break;
    case 128: move(pack, packed, blocks, 128, 64); break;
    case 192: move(pack, packed, blocks, 192, 64); break;
    case 256: move(pack, packed, blocks, 256, 64); break;
    case 512: move(pack, packed, blocks, 512, 64); break;
    default: move(pack, packed, blocks, size, 64);
    }
}

/* Moved by wide registers? */
static bool move_wide(bool pack, char *packed, const struct tern_blocks *blocks, size_t size)
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

/* Lanes of the first `bytes` of a register. */
static inline uint64_t first_lanes(size_t bytes)
{
    return bytes < 64 ? (UINT64_C(1) << bytes) - 1 : ~UINT64_C(0);
}

/* `next`: this much further the data is read next. */
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
                                                      const struct tern_blocks *blocks)
{
    size_t size = blocks->size;
    int64_t turns = (AHEAD + (int64_t)size - 1) / (int64_t)size;
    /* unsigned: nobody looks at what is beyond the end */
    int64_t next = (int64_t)((uint64_t)turns * (uint64_t)(pack ? blocks->stride : (int64_t)size));
    for (int64_t i = 0; i < blocks->rows; i++) {
        char *at = tern_block_at(blocks->base,
                                 blocks->places ? blocks->places[i] : i * blocks->row_stride);
        for (int64_t k = 0; k < blocks->count;
             k++, packed += size, at = tern_block_at(at, blocks->stride))
            stream_block(pack ? packed : at, pack ? at : packed, size, next);
    }
    _mm_sfence(); /* whoever is told of the bytes by an ordinary store must see them */
}

static bool can_stream(size_t size)
{
    return size >= 64 && size < STREAM_MAX && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw");
}

#else

static bool can_stream(size_t size)
{
    (void)size;
    return false;
}

static void stream(bool pack, char *packed, const struct tern_blocks *blocks)
{
    (void)pack, (void)packed, (void)blocks;
}

static bool move_wide(bool pack, char *packed, const struct tern_blocks *blocks, size_t size)
{
    (void)pack, (void)packed, (void)blocks, (void)size;
    return false;
}

#endif

void tern_block_move(bool pack, char *packed, const struct tern_blocks *blocks)
{
    size_t size = blocks->size;
    if (blocks->streamed && can_stream(size)) {
        stream(pack, packed, blocks);
        return;
    }
    switch (size) {
    case 1: move(pack, packed, blocks, 1, 0); return;
    case 2: move(pack, packed, blocks, 2, 0); return;
    case 4: move(pack, packed, blocks, 4, 0); return;
    case 8: move(pack, packed, blocks, 8, 0); return;
    case 12: move(pack, packed, blocks, 12, 0); return;
    case 16: move(pack, packed, blocks, 16, 0); return;
    case 24: move(pack, packed, blocks, 24, 16); return; /* two that overlap beat 16 and 8 */
    }
    if (size >= CALL_MIN)
        move(pack, packed, blocks, size, 0);
    else if (move_wide(pack, packed, blocks, size))
        return;
    else if (size >= 16)
        move(pack, packed, blocks, size, 16);
    else if (size >= 8)
        move(pack, packed, blocks, size, 8);
    else if (size >= 4)
        move(pack, packed, blocks, size, 4);
    else
        move(pack, packed, blocks, size, 1);
}

int64_t tern_block_stream_min(void)
{
    static int64_t bytes; /* the same for all threads, whoever is first */
    int64_t known = __atomic_load_n(&bytes, __ATOMIC_RELAXED);
    if (known)
        return known;
    known = sysconf(_SC_LEVEL3_CACHE_SIZE) / 2;
    if (known < 16 << 20)
        known = 16 << 20;
    __atomic_store_n(&bytes, known, __ATOMIC_RELAXED);
    return known;
}
