/* SPDX-License-Identifier: BSD-3-Clause */

/* AVX-512 has instructions that multiply and add in one rounding, and gcc 12 takes them for
 * products of complex numbers whatever fp-contract says
 * (docs/notes/2026-11-26-wide-reductions.md). AVX2 computes these products. */
#include "lib/type/reduction_wide.h"

#ifdef TERN_REDUCE_WIDE
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,no-fma,prefer-vector-width=512")
#define VECTOR_BYTES 64
#define WITHOUT_COMPLEX_PRODUCTS
#include "lib/type/reduction_loops.h"

const tern_reduce_table tern_reduce_avx512 = {VECTOR_LOOPS};
#endif
