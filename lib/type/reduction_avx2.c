/* SPDX-License-Identifier: BSD-3-Clause */

/* AVX2 without FMA: nothing here can multiply and add in one rounding. */
#include "lib/type/reduction_wide.h"

#ifdef TERN_REDUCE_WIDE
#pragma GCC target("avx2,no-fma")
#define VECTOR_BYTES 32
#include "lib/type/reduction_loops.h"

const tern_reduce_table tern_reduce_avx2 = {VECTOR_LOOPS};
#endif
