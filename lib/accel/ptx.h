/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PTX_H
#define TERN_PTX_H

/*
 * Writes the text of kernels in PTX, the assembly language that every NVIDIA driver compiles (PTX
 * ISA, version 6.0, for devices of compute capability 6.0 and later). So neither the build nor a
 * run needs CUDA's compiler. Each kernel is a module of its own and is written when it is first
 * needed, because the driver takes some tens of milliseconds for one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of numbers. A pair is a value and an index, for MAXLOC and MINLOC. */
enum tern_ptx_number {
    TERN_PTX_S8,
    TERN_PTX_U8,
    TERN_PTX_S16,
    TERN_PTX_U16,
    TERN_PTX_S32,
    TERN_PTX_U32,
    TERN_PTX_S64,
    TERN_PTX_U64,
    TERN_PTX_F32,
    TERN_PTX_F64,
    TERN_PTX_COMPLEX_F32,
    TERN_PTX_COMPLEX_F64,
    TERN_PTX_PAIR_F32_S32,
    TERN_PTX_PAIR_F64_S32,
    TERN_PTX_PAIR_S64_S32,
    TERN_PTX_PAIR_S32_S32,
    TERN_PTX_PAIR_S16_S32,
    TERN_PTX_PAIR_F32_F32,
    TERN_PTX_PAIR_F64_F64,
    TERN_PTX_NUMBERS
};

/* Operations. MAX to PROD are for integers and floating point, SUM and PROD for complex numbers
 * too, LAND to BXOR for integers, MAXLOC and MINLOC for pairs. */
enum tern_ptx_op {
    TERN_PTX_MAX,
    TERN_PTX_MIN,
    TERN_PTX_SUM,
    TERN_PTX_PROD,
    TERN_PTX_LAND,
    TERN_PTX_BAND,
    TERN_PTX_LOR,
    TERN_PTX_BOR,
    TERN_PTX_LXOR,
    TERN_PTX_BXOR,
    TERN_PTX_MAXLOC,
    TERN_PTX_MINLOC,
    TERN_PTX_OPS
};

/* Returns the bytes of an element. */
size_t tern_ptx_size(enum tern_ptx_number number);
/* Returns true if an operation is defined on a type of numbers. */
bool tern_ptx_defined(enum tern_ptx_op op, enum tern_ptx_number number);

enum { TERN_PTX_NAME = 40, TERN_PTX_TEXT = 8192, TERN_PTX_LOOPS = 4 };

/* A run that gather and scatter move. */
struct tern_ptx_run {
    uint64_t address;
    uint32_t bytes, packed; /* its length; where it lies after `packed` */
};

/*
 * A kernel. Threads of any number share the work.
 *
 * reduce(u64 in, u64 inout, u64 count): inout[i] = in[i] op inout[i], as lib/type/reduction.c
 * computes it. Both are aligned for their type.
 *
 * pack(u64 base, u64 packed, u32 first, u32 count, u32 per, u32 counts[3], u64 strides[4]): moves
 * `count` units of `unit` bytes, beginning with unit `first` of the packed stream, from the buffer
 * at `base` to `packed`; unpack moves them back. A run is `per` units; `loops` loops repeat it, the
 * innermost first, counts[i] times at strides[i] bytes; the outermost has no count. first + count
 * is less than 2^31. All is aligned to `unit` bytes.
 *
 * gather(u64 runs, u64 packed, u32 count, u32 shift): copies `count` runs (struct tern_ptx_run) to
 * `packed`; scatter copies them back. 2^shift threads share a run. All is aligned to `unit` bytes.
 */
struct tern_ptx_kernel {
    enum {
        TERN_PTX_PACK,
        TERN_PTX_UNPACK,
        TERN_PTX_GATHER,
        TERN_PTX_SCATTER,
        TERN_PTX_REDUCE
    } kind;
    int unit, loops; /* moves: 1, 2, 4, 8 or 16 bytes; packing: 1 to TERN_PTX_LOOPS */
    enum tern_ptx_op op; /* reductions */
    enum tern_ptx_number number;
};

/* Writes the name of a kernel, which is the entry of its module. */
void tern_ptx_name(char name[TERN_PTX_NAME], const struct tern_ptx_kernel *kernel);
/* Writes the text of its module. */
void tern_ptx_write(char text[TERN_PTX_TEXT], const struct tern_ptx_kernel *kernel);

#endif
