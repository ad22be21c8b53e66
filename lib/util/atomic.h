/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ATOMIC_H
#define TERN_ATOMIC_H

/* Words shared with other processes, on top of the compiler's atomics; likely/unlikely; cache
 * lines. */

#include <stdint.h>
#include <time.h>

enum { TERN_CACHE_LINE = 64 };

/* A variable of the library that no program sees: reached without a look into the table of
 * addresses. */
#define TERN_OURS __attribute__((visibility("hidden")))

#define TERN_LIKELY(x) __builtin_expect(!!(x), 1)
#define TERN_UNLIKELY(x) __builtin_expect(!!(x), 0)

static inline uint32_t tern_load_acquire(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void tern_store_release(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* For the thread sanitizer, which does not see an order that goes through another process: whatever
 * was released by this word comes before what follows. */
#if defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *word);
#define tern_comes_after(word) __tsan_acquire(word)
#else
#define tern_comes_after(word) ((void)0)
#endif

/*
 * Makes lines that another process wrote and this one has read this one's alone, by writing a byte
 * of each as it is. The next store of the other to them is a miss then, and misses overlap. To take
 * back a line that is in both caches is no miss: on the processors where this was measured such
 * stores went one at a time, and cost who writes a row of lines three times as much. Only where
 * nobody else writes them meanwhile.
 */
static inline void tern_own_lines(volatile char *bytes, int64_t length)
{
    for (int64_t line = 0; line < length; line += TERN_CACHE_LINE)
        bytes[line] = bytes[line]; /* volatile, for the compiler would leave it out */
}

static inline void tern_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Asks for a line that will be written soon; it may be another's by then. Nothing happens where
 * nothing is mapped. */
static inline void tern_prefetch_write(const void *line)
{
#if defined(__x86_64__) || defined(__i386__)
    /* the compiler's would only read it */
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* Adds to a counter that one thread at a time changes, and any may read with __atomic_load_n. A
 * plain add is one instruction and never torn, but only an atomic store is free of races by the
 * book. */
static inline void tern_count(uint64_t *counter, uint64_t n)
{
#if defined(__SANITIZE_THREAD__)
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
#else
    *counter += n;
#endif
}

/* A clock that costs some ten cycles and is the same on all processors of a node; its unit is the
 * machine's. */
static inline uint64_t tern_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

/* Returns about how many ticks (tern_ticks) there are in `us` microseconds. On x86 the rate is
 * taken to be 2.5 GHz, so that this is a constant: real ones differ by a factor of two at most, and
 * all uses are limits where that does not matter. */
static inline uint64_t tern_ticks_of_us(uint64_t us)
{
#if defined(__x86_64__) || defined(__i386__)
    return us * 2500;
#elif defined(__aarch64__)
    uint64_t ticks_of_second;
    __asm__("mrs %0, cntfrq_el0" : "=r"(ticks_of_second));
    return us * ticks_of_second / 1000000;
#else
    return us * 1000;
#endif
}

#endif
