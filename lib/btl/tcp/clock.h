/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_CLOCK_H
#define TERN_TCP_CLOCK_H

#include <stdint.h>

/* Returns milliseconds of the monotonic clock. All deadlines of this room use this clock. */
uint64_t tern_tcp_now_ms(void);

#endif
