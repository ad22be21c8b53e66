/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_EXTERNAL_H
#define TERN_EXTERNAL_H

/*
 * external32, the portable form of basic elements (MPI-4.1 section 15.5.2): big endian, two's
 * complement, IEEE 754. There MPI_LONG and MPI_UNSIGNED_LONG have 4 bytes, MPI_WCHAR has 2, and a
 * long double is binary128. Truth values become 0 or 1. A pair is converted as its two parts.
 *
 * A value that does not fit a shorter form loses its upper bytes, as the standard advises.
 */

#include "lib/type/type.h"

#include <stdbool.h>

/* Return the bytes of one element of a class: in the packed stream, and in external32. Any class
 * but TERN_BASIC_NONE. */
int64_t tern_external_packed_size(enum tern_basic basic);
int64_t tern_external_size(enum tern_basic basic);

/* Convert `count` elements: tern_external_write from the packed stream to external32,
 * tern_external_read back. The areas need no alignment and must not overlap. */
void tern_external_write(enum tern_basic basic, const char *packed, char *external, int64_t count);
/* Returns true if all `count` elements fit: tern_external_write then loses nothing. */
bool tern_external_fits(enum tern_basic basic, const char *packed, int64_t count);
void tern_external_read(enum tern_basic basic, const char *external, char *packed, int64_t count);

#endif
