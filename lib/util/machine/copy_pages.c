/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/machine/copy_pages.h"

#include <string.h>

static bool gains; /* pages in turn are the faster way */

void tern_copy_pages_use(bool in_turn)
{
    __atomic_store_n(&gains, in_turn, __ATOMIC_RELAXED);
}

bool tern_copy_pages_gains(void)
{
    return __atomic_load_n(&gains, __ATOMIC_RELAXED);
}

void tern_copy_pages(void *to, const void *from, size_t bytes)
{
    if (tern_copy_pages_gains())
        tern_copy_pages_in_turn(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

#if defined(__x86_64__)

#include <immintrin.h>

enum { PAGE = 4096, RUN = 128 }; /* RUN: bytes copied of a page before the next page's turn */

/* Copies `pages` pages, a run of each in turn. */
static inline __attribute__((always_inline, target("avx2"))) void
copy_in_turn(char *to, const char *from, size_t pages)
{
    for (size_t at = 0; at < PAGE; at += RUN)
        for (size_t page = 0; page < pages; page++) {
            __m256i *t = (__m256i *)(to + page * PAGE + at);
            const __m256i *f = (const __m256i *)(from + page * PAGE + at);
            __m256i a = _mm256_loadu_si256(f), b = _mm256_loadu_si256(f + 1),
                    c = _mm256_loadu_si256(f + 2), d = _mm256_loadu_si256(f + 3);
            _mm256_storeu_si256(t, a);
            _mm256_storeu_si256(t + 1, b);
            _mm256_storeu_si256(t + 2, c);
            _mm256_storeu_si256(t + 3, d);
        }
}

static __attribute__((target("avx2"))) void copy_pages(char *to, const char *from, size_t bytes)
{
    for (; bytes >= 8 * PAGE; bytes -= 8 * PAGE, to += 8 * PAGE, from += 8 * PAGE)
        copy_in_turn(to, from, 8);
    if (bytes >= 4 * PAGE) {
        copy_in_turn(to, from, 4);
        bytes -= 4 * PAGE, to += 4 * PAGE, from += 4 * PAGE;
    }
    memcpy(to, from, bytes);
}

void tern_copy_pages_in_turn(void *to, const void *from, size_t bytes)
{
    if (__builtin_cpu_supports("avx2"))
        copy_pages(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

#else

void tern_copy_pages_in_turn(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#endif
