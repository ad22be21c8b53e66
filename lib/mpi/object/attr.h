/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ATTR_H
#define TERN_ATTR_H

/* Attributes cached on communicators, datatypes and windows (MPI-4.1 section 7.7). */

#include "lib/util/base/handle.h"

#include <mpi.h>
#include <stdbool.h>

/* The kinds of object that have attributes. */
enum tern_attr_kind { TERN_ATTR_COMM, TERN_ATTR_TYPE, TERN_ATTR_WIN, TERN_ATTR_KINDS };

/* Holds the attributes of one object and belongs to that object. A NULL pointer means no
 * attribute. */
struct tern_attrs;

/*
 * Copies attributes for a duplicate. Calls the copy callback of each attribute in `*from_attrs`,
 * the attributes of `from`. Stores in `*ret_attrs`, which must be NULL before, the attributes that
 * the callbacks want copied. Returns 0, TERN_ERR_NO_MEM, or the positive error code of a callback.
 * After an error `*ret_attrs` holds the attributes copied until then: the caller deletes them with
 * tern_attrs_delete_all before it frees the new object.
 */
int tern_attrs_copy(enum tern_attr_kind kind, struct tern_object *from,
                    struct tern_attrs *from_attrs, struct tern_attrs **ret_attrs);

/*
 * Deletes all attributes of an object that is being freed. Call it before any other part of the
 * object is freed. Calls the delete callbacks, the attribute set last first. Returns 0, or the
 * error code of the first callback that fails. That callback ends the deletion: the object lives on
 * with the attributes not yet deleted.
 */
int tern_attrs_delete_all(enum tern_attr_kind kind, struct tern_object *object,
                          struct tern_attrs **attrs);

/* Set, get or delete one attribute. Check first that the keyval is valid for `kind`. May call
 * callbacks. tern_attrs_get sets *ret_found to false if the object has no such attribute. Return 0,
 * TERN_ERR_* or the code of a callback. */
int tern_attrs_set(enum tern_attr_kind kind, struct tern_object *object, struct tern_attrs **attrs,
                   int keyval, void *value);
int tern_attrs_get(enum tern_attr_kind kind, struct tern_attrs *attrs, int keyval, void **ret_value,
                   bool *ret_found);
int tern_attrs_delete(enum tern_attr_kind kind, struct tern_object *object,
                      struct tern_attrs **attrs, int keyval);

#endif
