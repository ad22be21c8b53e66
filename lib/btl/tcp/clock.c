/* SPDX-License-Identifier: BSD-3-Clause */

/* The clock of all deadlines in this room; a file of its own, so that a test can replace it. */

#include "lib/btl/tcp/clock.h"

#include <time.h>

uint64_t tern_tcp_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
