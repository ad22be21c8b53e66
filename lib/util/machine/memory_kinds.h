/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MEMORY_KINDS_H
#define TERN_MEMORY_KINDS_H

/*
 * Kinds of memory for buffers (MPI-4.1 section 11.4.3), written KIND[:RESTRICTOR...]. The supported
 * kinds do not depend on what a program asks for.
 */

#include <stdbool.h>
#include <stddef.h>

/* All supported kinds, as the value of info key mpi_memory_alloc_kinds. */
extern const char tern_memory_kinds[];

/* Returns true if each kind of the comma-separated `list` is supported. If not, sets *ret_unknown
 * and *ret_length (both may be NULL) to the first unsupported kind. */
bool tern_memory_kinds_supported(const char *list, const char **ret_unknown, size_t *ret_length);

#endif
