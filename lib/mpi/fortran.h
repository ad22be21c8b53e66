/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FORTRAN_H
#define TERN_FORTRAN_H

/*
 * Fortran's integers for C handles: an index into a table per kind of handle. Predefined handles
 * have the fixed indices of Open MPI; others get one when first asked for and keep it until the
 * object goes.
 */

#include "lib/util/handle.h"

#include <mpi.h>

/* Index of a handle of any kind; -1 (of no handle) when memory is out. */
MPI_Fint tern_fortran_index(struct tern_handle *handle);
/* The handle of `magic` with this index, or NULL. */
struct tern_handle *tern_fortran_handle(enum tern_magic magic, MPI_Fint index);

/* To be called when an object goes, so that its index is free again. */
void tern_fortran_drop(struct tern_object *object);

#endif
