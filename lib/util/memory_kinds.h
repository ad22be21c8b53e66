/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MEMORY_KINDS_H
#define TERN_MEMORY_KINDS_H

/*
 * Kinds of memory that buffers may lie in (MPI-4.1 section 11.4.3), written KIND[:RESTRICTOR...].
 * What is supported does not depend on what a program asks for.
 */

#include <stdbool.h>
#include <stddef.h>

/* All that are supported, as the value of info key mpi_memory_alloc_kinds. */
extern const char tern_memory_kinds[];

/* Is each kind of the comma-separated `list` supported? If not, *ret_unknown and *ret_length (may
 * be NULL) say which one is the first that is not. */
bool tern_memory_kinds_supported(const char *list, const char **ret_unknown, size_t *ret_length);

#endif
