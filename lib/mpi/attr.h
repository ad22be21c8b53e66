/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ATTR_H
#define TERN_ATTR_H

/* Attributes cached on communicators, datatypes and windows (MPI-4.1 section 7.7). */

#include "lib/util/handle.h"

#include <mpi.h>
#include <stdbool.h>

enum tern_attr_kind { TERN_ATTR_COMM, TERN_ATTR_TYPE, TERN_ATTR_WIN, TERN_ATTR_KINDS };

struct tern_attrs; /* what one object has; NULL: nothing. Belongs to the object. */

/*
 * For a dup: copies the attributes of `from` (held in *from_attrs) that their copy callbacks want
 * copied to *ret_attrs, which must be NULL before. A callback's error code (positive) is returned;
 * then *ret_attrs holds what was copied until then and the caller deletes it with
 * tern_attrs_delete_all before it frees the new object.
 */
int tern_attrs_copy(enum tern_attr_kind kind, struct tern_object *from,
                    struct tern_attrs *from_attrs, struct tern_attrs **ret_attrs);

/*
 * For a free, before anything else of the object goes: calls the delete callbacks, the attribute
 * set last first. The first error code of a callback is returned and stops it (the object lives on,
 * with the attributes not yet deleted).
 */
int tern_attrs_delete_all(enum tern_attr_kind kind, struct tern_object *object,
                          struct tern_attrs **attrs);

/* Set, get and delete one; checks the keyval. Callbacks may run. */
int tern_attrs_set(enum tern_attr_kind kind, struct tern_object *object, struct tern_attrs **attrs,
                   int keyval, void *value);
int tern_attrs_get(enum tern_attr_kind kind, struct tern_attrs *attrs, int keyval, void **ret_value,
                   bool *ret_found);
int tern_attrs_delete(enum tern_attr_kind kind, struct tern_object *object,
                      struct tern_attrs **attrs, int keyval);

#endif
