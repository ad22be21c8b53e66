/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Equal blocks.
 *
 * A call of memcpy costs as much as moving a hundred bytes. So blocks up to CALL_MIN bytes are
 * moved here: loops made for the common small sizes, and for the others a loop of the widest
 * register that fits in a block, whose last move overlaps the one before rather than to go on in
 * smaller steps. Which registers there are is asked of the processor at run time; the library is
 * built for every x86-64.
 */
#include "lib/type/block.h"

#include <string.h>

/* From here on memcpy moves a block: it aligns, and it knows the caches. */
enum { CALL_MIN = 1536 };

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

INLINED void strided(bool pack, char *packed, char *at, int64_t count, int64_t stride, size_t size,
                     size_t step)
{
    if (pack)
        for (; count > 0; count--, packed += size, at = tern_block_at(at, stride))
            copy_block(packed, at, size, step);
    else
        for (; count > 0; count--, packed += size, at = tern_block_at(at, stride))
            copy_block(at, packed, size, step);
}

INLINED void placed(bool pack, char *packed, char *base, const int64_t *places, int64_t count,
                    size_t size, size_t step)
{
    if (pack)
        for (int64_t i = 0; i < count; i++, packed += size)
            copy_block(packed, tern_block_at(base, places[i]), size, step);
    else
        for (int64_t i = 0; i < count; i++, packed += size)
            copy_block(tern_block_at(base, places[i]), packed, size, step);
}

/* One of the two above, with places or else a stride, so that sizes are chosen in one place. */
INLINED void move(bool pack, char *packed, char *at, const int64_t *places, int64_t count,
                  int64_t stride, size_t size, size_t step)
{
    if (places)
        placed(pack, packed, at, places, count, size, step);
    else
        strided(pack, packed, at, count, stride, size, step);
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) static void move_32(bool pack, char *packed, char *at,
                                                    const int64_t *places, int64_t count,
                                                    int64_t stride, size_t size)
{
    switch (size) {
    case 32: move(pack, packed, at, places, count, stride, 32, 0); break;
    case 40: move(pack, packed, at, places, count, stride, 40, 0); break;
    case 48: move(pack, packed, at, places, count, stride, 48, 0); break;
    case 64: move(pack, packed, at, places, count, stride, 64, 0); break;
    default: move(pack, packed, at, places, count, stride, size, 32);
    }
}

__attribute__((target("avx512f"))) static void move_64(bool pack, char *packed, char *at,
                                                       const int64_t *places, int64_t count,
                                                       int64_t stride, size_t size)
{
    if (size == 64)
        move(pack, packed, at, places, count, stride, 64, 0);
    else
        move(pack, packed, at, places, count, stride, size, 64);
}

/* Moved by wide registers? */
static bool move_wide(bool pack, char *packed, char *at, const int64_t *places, int64_t count,
                      int64_t stride, size_t size)
{
    if (size >= 64 && __builtin_cpu_supports("avx512f"))
        move_64(pack, packed, at, places, count, stride, size);
    else if (size >= 32 && __builtin_cpu_supports("avx2"))
        move_32(pack, packed, at, places, count, stride, size);
    else
        return false;
    return true;
}

#else

static bool move_wide(bool pack, char *packed, char *at, const int64_t *places, int64_t count,
                      int64_t stride, size_t size)
{
    (void)pack, (void)packed, (void)at, (void)places, (void)count, (void)stride, (void)size;
    return false;
}

#endif

static void move_any(bool pack, char *packed, char *at, const int64_t *places, int64_t count,
                     int64_t stride, size_t size)
{
    switch (size) {
    case 1: move(pack, packed, at, places, count, stride, 1, 0); return;
    case 2: move(pack, packed, at, places, count, stride, 2, 0); return;
    case 4: move(pack, packed, at, places, count, stride, 4, 0); return;
    case 8: move(pack, packed, at, places, count, stride, 8, 0); return;
    case 12: move(pack, packed, at, places, count, stride, 12, 0); return;
    case 16: move(pack, packed, at, places, count, stride, 16, 0); return;
    case 24: move(pack, packed, at, places, count, stride, 24, 0); return;
    }
    if (size >= CALL_MIN)
        move(pack, packed, at, places, count, stride, size, 0);
    else if (move_wide(pack, packed, at, places, count, stride, size))
        return;
    else if (size >= 16)
        move(pack, packed, at, places, count, stride, size, 16);
    else if (size >= 8)
        move(pack, packed, at, places, count, stride, size, 8);
    else if (size >= 4)
        move(pack, packed, at, places, count, stride, size, 4);
    else
        move(pack, packed, at, places, count, stride, size, 1);
}

void tern_block_move_strided(bool pack, char *packed, char *at, int64_t count, int64_t stride,
                             size_t size)
{
    move_any(pack, packed, at, NULL, count, stride, size);
}

void tern_block_move_placed(bool pack, char *packed, char *base, const int64_t *places,
                            int64_t count, size_t size)
{
    move_any(pack, packed, base, places, count, 0, size);
}
