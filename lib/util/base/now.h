/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_NOW_H
#define TERN_NOW_H

#include <stdint.h>
#include <time.h>

/* Returns the nanoseconds of the monotonic clock. */
static inline uint64_t tern_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns its milliseconds. */
static inline uint64_t tern_now_ms(void)
{
    return tern_now_ns() / 1000000;
}

#endif
