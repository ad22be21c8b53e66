/* SPDX-License-Identifier: BSD-3-Clause */

/* AVX2 without FMA: nothing here can multiply and add in one rounding. AVX-512 has such
 * instructions, and gcc 12 takes them for products of complex numbers whatever fp-contract says
 * (docs/notes/2026-11-26-wide-reductions.md). */
#include "lib/type/reduction_avx2.h"

#ifdef TERN_REDUCE_AVX2
#pragma GCC target("avx2,no-fma")
#include "lib/type/reduction_loops.h"

const tern_reduce_table tern_reduce_avx2 = {VECTOR_LOOPS};
#endif
