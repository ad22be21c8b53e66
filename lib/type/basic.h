/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BASIC_H
#define TERN_BASIC_H

/* Initialisers of predefined types, for static tables. */

#include "lib/type/type.h"

/* IEEE binary128, the type of MPI_REAL16: on x86 __float128, on AArch64 long double. */
#ifdef __SIZEOF_FLOAT128__
typedef __float128 tern_binary128;
#else
typedef long double tern_binary128;
_Static_assert(__LDBL_MANT_DIG__ == 113, "a type for MPI_REAL16");
#endif

/* One run of `bytes` bytes of class `class_`. The next element follows after `span` bytes. One
 * element is `less` bytes shorter in external32. */
#define TERN_TYPE_RUN(class_, bytes, span, align, count, less)                                     \
    {                                                                                              \
        .size = (bytes), .extent = (span), .true_extent = (bytes), .elements = (count),            \
        .narrowed = (less), .alignment = (align), .basic = (class_), .gapless = true,              \
        .contiguous = (bytes) == (span), .committed = true                                         \
    }

/* A basic element as the C compiler lays it out. */
#define TERN_TYPE_OF(class_, ctype)                                                                \
    TERN_TYPE_RUN(class_, sizeof(ctype), sizeof(ctype), _Alignof(ctype), 1, 0)

/* Such an element, which has `external` bytes in external32. */
#define TERN_TYPE_NARROWED(class_, ctype, external)                                                \
    TERN_TYPE_RUN(class_, sizeof(ctype), sizeof(ctype), _Alignof(ctype), 1,                        \
                  sizeof(ctype) - (external))

/* The program of MPI_SHORT_INT, the only predefined type with a hole inside. */
extern struct tern_program tern_program_short_int;

#endif
