/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ATOMIC_H
#define TERN_ATOMIC_H

/* Words shared with other processes, on top of the compiler's atomics. Also: likely and unlikely
 * branches, cache lines, a cheap clock. */

#include <stdint.h>
#include <time.h>

enum { TERN_CACHE_LINE = 64 };

/* Marks a variable that only the library uses. The library then reaches the variable without a look
 * into the global offset table (GOT). */
#define TERN_OURS __attribute__((visibility("hidden")))

#define TERN_LIKELY(x) __builtin_expect(!!(x), 1)
#define TERN_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Reads `word`. What the writer did before its release store is visible afterwards. */
static inline uint32_t tern_load_acquire(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Writes `word`. What this thread did before is visible to every thread that acquires the new
 * value. */
static inline void tern_store_release(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Tells the thread sanitizer that an order exists which it cannot see, because the order goes
 * through another process: everything released through `word` comes before what follows. */
#if defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *word);
#define tern_comes_after(word) __tsan_acquire(word)
#else
#define tern_comes_after(word) ((void)0)
#endif

/* Fences: tern_fence_release lets no later store overtake what comes before it, tern_fence lets
 * nothing overtake anything. The thread sanitizer knows no fences, and the compiler refuses them
 * with it. An exchange of a word that no other thread sees is as good on x86, and says nothing to
 * the sanitizer. */
#if defined(__SANITIZE_THREAD__)
static inline void tern_fence(void)
{
    uint32_t word = 0;
    (void)__atomic_exchange_n(&word, 1, __ATOMIC_SEQ_CST);
}
#define tern_fence_release tern_fence
#else
static inline void tern_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void tern_fence_release(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}
#endif

/*
 * Makes this process the only owner of cache lines that another process wrote and this one has
 * read: writes one byte of each line, unchanged. Call it only if nobody else writes these bytes
 * meanwhile.
 *
 * Why: the other process's next stores to the lines are then cache misses, and misses overlap. To
 * take back a line that both caches hold is no miss. On the processors where this was measured such
 * stores went one at a time, and writing a row of lines took three times as long.
 */
static inline void tern_own_lines(volatile char *bytes, int64_t length)
{
    for (int64_t line = 0; line < length; line += TERN_CACHE_LINE)
        bytes[line] = bytes[line]; /* volatile, because the compiler would leave the store out */
}

/* Tells the processor that this thread spins. */
static inline void tern_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Asks the processor for a cache line that this thread will write soon. Another processor may take
 * the line away again before that. Does nothing if no memory is mapped at `line`. */
static inline void tern_prefetch_write(const void *line)
{
#if defined(__x86_64__) || defined(__i386__)
    /* the compiler's own prefetch would ask for the line to be read only */
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* Adds to a counter that one thread at a time changes and that any thread may read with
 * __atomic_load_n. A plain add is one instruction and is never torn, but in the C standard only an
 * atomic store is free of data races: the thread sanitizer gets one. */
static inline void tern_count(uint64_t *counter, uint64_t n)
{
#if defined(__SANITIZE_THREAD__)
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
#else
    *counter += n;
#endif
}

/* Reads a clock that costs about ten cycles and agrees between all processors of a node. The unit
 * depends on the machine (tern_ticks_of_us). */
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
 * taken to be 2.5 GHz, which makes the result a constant. Real rates differ by a factor of two at
 * most, and all callers need a rough limit only. */
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
