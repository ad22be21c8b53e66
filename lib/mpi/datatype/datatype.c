/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/datatype/datatype.h"

#include "lib/mpi/object/attr.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/datatype/datatype_envelope.h"
#include "lib/mpi/object/fortran.h"
#include "lib/mpi/procedures.h"
#include "lib/pml/pml.h"
#include "lib/type/layout.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

struct tern_datatype *tern_datatype_new(void)
{
    struct tern_datatype *datatype = calloc(1, sizeof *datatype);
    if (!datatype)
        return NULL;
    tern_object_init(&datatype->obj, TERN_MAGIC_DATATYPE);
    datatype->obj.name = datatype->name;
    datatype->handles = 1;
    return datatype;
}

void tern_datatype_keep(struct tern_datatype *datatype)
{
    datatype->predefined = true;
    datatype->obj.held = TERN_OBJECT_KEPT;
}

void tern_datatype_retain(struct tern_datatype *datatype)
{
    if (!datatype->predefined)
        tern_ref(&datatype->obj.refs);
}

static bool last_reference(struct tern_datatype *datatype)
{
    return !datatype->predefined && tern_unref(&datatype->obj.refs) == 0;
}

/* Drops a reference. A type may hold the last reference to its old types, and so on down a million
 * levels. So the types to be freed are kept in a list rather than on the stack. */
void tern_datatype_release(struct tern_datatype *datatype)
{
    if (!last_reference(datatype))
        return;
    tern_lock(); /* the lock guards the reference counts of programs and old types */
    struct tern_datatype *next = datatype;
    while (next) {
        datatype = next;
        next = datatype->next_freed;
        struct tern_envelope *envelope = datatype->envelope;
        for (int64_t i = 0; envelope && i < envelope->type_count; i++) {
            struct tern_datatype *old = envelope->types[i];
            if (old && last_reference(old)) {
                old->next_freed = next;
                next = old;
            }
        }
        free(envelope);
        tern_fortran_drop(&datatype->obj);
        tern_type_drop(&datatype->type);
        tern_object_free(&datatype->obj);
    }
    tern_unlock();
}

int tern_mpi_type_commit(struct tern_datatype **datatype)
{
    if (!(*datatype)->predefined)
        (*datatype)->type.committed = true;
    return 0;
}

int tern_mpi_type_free(struct tern_datatype **datatype)
{
    struct tern_datatype *type = *datatype;
    if (type->predefined)
        return tern_error(TERN_ERR_TYPE, "datatype is %s, which is predefined and cannot be freed",
                          !type->envelope               ? type->name
                          : tern_datatype_is_pair(type) ? "from MPI_Type_get_value_index"
                                                        : "from MPI_Type_create_f90_...");
    if (type->handles == 0)
        return tern_error(TERN_ERR_TYPE,
                          "datatype was freed before; it exists only as a part of other datatypes");
    /* MPI_Type_get_contents may have given a second handle; the attributes go with the last one. */
    if (type->handles == 1) {
        int error = tern_attrs_delete_all(TERN_ATTR_TYPE, &type->obj, &type->attrs);
        if (error)
            return error;
    }
    type->handles--;
    tern_datatype_release(type);
    *datatype = NULL;
    return 0;
}

int tern_mpi_type_dup(struct tern_datatype *oldtype, struct tern_datatype **ret_newtype)
{
    struct tern_datatype *datatype = tern_datatype_new();
    if (!datatype)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a datatype");
    tern_type_make_dup(&oldtype->type, &datatype->type);
    int error;
    datatype->envelope = tern_envelope_new(MPI_COMBINER_DUP, 0, 0, 1);
    if (!datatype->envelope) {
        error = tern_error(TERN_ERR_NO_MEM, "no memory for a datatype");
        goto drop_datatype;
    }
    tern_datatype_retain(oldtype);
    datatype->envelope->types[0] = oldtype;
    error = tern_attrs_copy(TERN_ATTR_TYPE, &oldtype->obj, oldtype->attrs, &datatype->attrs);
    if (error)
        goto drop_attributes;
    *ret_newtype = datatype;
    return 0;

drop_attributes:
    tern_attrs_delete_all(TERN_ATTR_TYPE, &datatype->obj, &datatype->attrs);
drop_datatype:
    tern_datatype_release(datatype);
    return error;
}

int tern_mpi_type_get_name(struct tern_datatype *datatype, char *type_name, int *resultlen)
{
    const char *name = datatype ? datatype->name : "MPI_DATATYPE_NULL";
    size_t length = strlen(name);
    memcpy(type_name, name, length + 1);
    *resultlen = (int)length;
    return 0;
}

int tern_mpi_type_set_name(struct tern_datatype *datatype, const char *type_name)
{
    size_t length = strnlen(type_name, sizeof datatype->name - 1);
    memcpy(datatype->name, type_name, length);
    datatype->name[length] = '\0';
    return 0;
}

int64_t tern_datatype_find_bad(const MPI_Datatype types[], int64_t n, bool committed)
{
    if (TERN_UNLIKELY(tern_check_level() != TERN_CHECK_BASIC)) {
        int64_t bad = tern_check_find_bad_handle(types, n);
        if (bad >= 0 || tern_check_level() == TERN_CHECK_NONE)
            return bad;
    }
    for (int64_t i = 0; i < n; i++) {
        const struct tern_handle *handle = (const struct tern_handle *)types[i];
        if (!handle || !tern_handle_is(handle, TERN_MAGIC_DATATYPE) || !handle->state)
            return i;
        if (committed && !tern_datatype_of(types[i])->type.committed)
            return i;
    }
    return -1;
}
