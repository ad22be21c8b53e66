/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PROCESSOR_H
#define TERN_PROCESSOR_H

/* Who made the processor: what is fast between two cores differs (docs/notes). */

#include <stdbool.h>

static inline bool tern_processor_is_amd(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

#endif
