/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_REDUCTION_WIDE_H
#define TERN_REDUCTION_WIDE_H

/* The loops for x86 processors with wider vectors than all have (lib/type/reduction_loops.h). They
 * give the same bits as the others. */

#include "lib/type/reduction.h"

/* Loops by class and operation; NULL where there is none. */
typedef tern_reduce_loop *tern_reduce_table[TERN_BASIC_COUNT][TERN_REDUCE_OPS];

/* Other compilers than gcc do not know its pragmas. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TERN_REDUCE_WIDE
extern const tern_reduce_table tern_reduce_avx2;
extern const tern_reduce_table tern_reduce_avx512; /* without products of complex numbers */

/* The processor was asked once, when the library was loaded. */
static inline bool tern_reduce_has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

/* Returns true for processors with AVX-512 of the second generation. The first one lowers its clock
 * for it. */
static inline bool tern_reduce_has_avx512(void)
{
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi2");
}
#endif

#endif
