/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/datatype/op.h"

#include "lib/coll/run/coll.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/datatype/datatype_envelope.h"
#include "lib/mpi/datatype/datatype_named.h"
#include "lib/mpi/object/face.h"
#include "lib/mpi/object/fortran.h"
#include "lib/type/device_reduce.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <stdlib.h>

#include "lib/mpi/procedures.h"

#define PREDEFINED(symbol, code, text)                                             \
    struct tern_op tern_op_##symbol = {                                            \
        .obj = {.handle = (struct tern_handle *)&ompi_mpi_op_##symbol, .refs = 1}, \
        .op = code,                                                                \
        .commutative = true,                                                       \
        .predefined = true,                                                        \
        .name = text,                                                              \
    }

PREDEFINED(max, TERN_REDUCE_MAX, "MPI_MAX");
PREDEFINED(min, TERN_REDUCE_MIN, "MPI_MIN");
PREDEFINED(sum, TERN_REDUCE_SUM, "MPI_SUM");
PREDEFINED(prod, TERN_REDUCE_PROD, "MPI_PROD");
PREDEFINED(land, TERN_REDUCE_LAND, "MPI_LAND");
PREDEFINED(band, TERN_REDUCE_BAND, "MPI_BAND");
PREDEFINED(lor, TERN_REDUCE_LOR, "MPI_LOR");
PREDEFINED(bor, TERN_REDUCE_BOR, "MPI_BOR");
PREDEFINED(lxor, TERN_REDUCE_LXOR, "MPI_LXOR");
PREDEFINED(bxor, TERN_REDUCE_BXOR, "MPI_BXOR");
PREDEFINED(maxloc, TERN_REDUCE_MAXLOC, "MPI_MAXLOC");
PREDEFINED(minloc, TERN_REDUCE_MINLOC, "MPI_MINLOC");
PREDEFINED(replace, TERN_REDUCE_REPLACE, "MPI_REPLACE");
PREDEFINED(no_op, TERN_REDUCE_NO_OP, "MPI_NO_OP");

/* --- applying operations --- */

static void call_fn_c(const struct tern_op *op, void *in, void *inout, MPI_Count count,
                      MPI_Datatype datatype)
{
    if (op->face)
        op->face->op_c((tern_face_function *)op->fn_c, in, inout, &count, datatype);
    else
        op->fn_c(in, inout, &count, &datatype);
}

static void call_fn(const struct tern_op *op, void *in, void *inout, int count,
                    MPI_Datatype datatype)
{
    if (op->face)
        op->face->op((tern_face_function *)op->fn, in, inout, &count, datatype);
    else if (op->cxx)
        ((tern_op_cxx_caller *)(void (*)(void))op->fn)(in, inout, &count, &datatype, op->cxx);
    else
        op->fn(in, inout, &count, &datatype);
}

/* Applies a user's function. A function with int counts gets a long vector in pieces. */
static void apply_user(const struct tern_reduction *reduction, const void *in, void *inout,
                       int64_t count)
{
    const struct tern_op *op = reduction->user;
    struct tern_datatype *datatype = reduction->datatype;
    MPI_Datatype handle = tern_datatype_handle(datatype);
    tern_check_handle_lent(handle);
    if (op->fn_c) {
        call_fn_c(op, (void *)in, inout, count, handle);
        return;
    }
    for (int64_t done = 0; done < count;) {
        int piece = count - done < INT_MAX ? (int)(count - done) : INT_MAX;
        int64_t offset = done * datatype->type.extent;
        call_fn(op, (char *)in + offset, (char *)inout + offset, piece, handle);
        done += piece;
    }
}

/*
 * Finds pairs that the standard's table (MPI-4.1 section 6.9.2) does not have, but that
 * tern_reduce_find accepts because programs rely on them. Returns what to use instead, or NULL if
 * the pair is in the table.
 */
static const char *instead_of(enum tern_reduce_op op, const struct tern_datatype *datatype)
{
    bool bits = op == TERN_REDUCE_BAND || op == TERN_REDUCE_BOR || op == TERN_REDUCE_BXOR;
    bool logic = op == TERN_REDUCE_LAND || op == TERN_REDUCE_LOR || op == TERN_REDUCE_LXOR;
    static const struct tern_datatype *const no_c_integers[] = {
        &tern_datatype_aint,     &tern_datatype_offset,   &tern_datatype_count,
        &tern_datatype_integer,  &tern_datatype_integer1, &tern_datatype_integer2,
        &tern_datatype_integer4, &tern_datatype_integer8,
    };

    if (op == TERN_REDUCE_REPLACE || op == TERN_REDUCE_NO_OP)
        return NULL;
    if (datatype->type.basic == TERN_BASIC_CHARACTER)
        return "MPI_SIGNED_CHAR or MPI_INT8_T for numbers";
    if (datatype->type.basic == TERN_BASIC_BYTE)
        return bits ? NULL : "MPI_UNSIGNED_CHAR or MPI_UINT8_T for numbers";
    if (!logic)
        return NULL;
    bool c_integer =
        !datatype->envelope || datatype->envelope->combiner != MPI_COMBINER_F90_INTEGER;
    for (size_t i = 0; i < sizeof no_c_integers / sizeof *no_c_integers; i++)
        c_integer &= datatype != no_c_integers[i];
    return c_integer ? NULL : "MPI_LOGICAL, MPI_C_BOOL or an integer type of C";
}

int tern_op_check_table(const struct tern_op *op, const struct tern_datatype *datatype)
{
    const char *instead =
        op->predefined && datatype->predefined ? instead_of(op->op, datatype) : NULL;
    return instead
               ? tern_error(TERN_ERR_OP,
                            "the standard does not define %s on %s (MPI-4.1 section 6.9.2), and "
                            "other MPI libraries may refuse it; use %s",
                            op->name, datatype->name[0] ? datatype->name : "a Fortran integer type",
                            instead)
               : 0;
}

/* Finds the loop of a predefined operation. Returns NULL if there is none for the datatype. */
static tern_reduce_loop *find_loop(enum tern_reduce_op op, const struct tern_datatype *datatype)
{
    if (!datatype->predefined)
        return NULL;
    return datatype->type.pair ? tern_reduce_find_pair(op, datatype->type.pair - 1)
                               : tern_reduce_find(op, &datatype->type);
}

int tern_op_reduction(struct tern_op *op, struct tern_datatype *datatype,
                      struct tern_reduction *ret_reduction)
{
    tern_reduce_loop *loop = NULL;
    if (op->predefined) {
        bool one_sided = op->op == TERN_REDUCE_REPLACE || op->op == TERN_REDUCE_NO_OP;
        if (one_sided)
            return tern_error(TERN_ERR_OP, "%s is for one-sided communication only", op->name);
        loop = find_loop(op->op, datatype);
        if (!loop)
            return tern_error(TERN_ERR_OP, "%s is not defined on %s%s", op->name,
                              datatype->name[0] ? datatype->name : "a datatype without name",
                              datatype->predefined
                                  ? ""
                                  : ", a derived datatype; make an operation with MPI_Op_create");
    }
    *ret_reduction = (struct tern_reduction){
        .loop = loop,
        .op = op->op,
        .commutative = op->commutative,
        .apply = apply_user,
        .user = op,
        .datatype = datatype,
    };
    return 0;
}

static void reduce_host(void *state, const void *in, void *inout, int64_t count)
{
    const struct tern_reduction *reduction = state;
    if (reduction->loop)
        reduction->loop(in, inout, count);
    else
        reduction->apply(reduction, in, inout, count);
}

int tern_mpi_reduce_local(const void *inbuf, void *inoutbuf, MPI_Count count,
                          struct tern_datatype *datatype, struct tern_op *op)
{
    struct tern_reduction reduction;
    int rc = tern_check_full() ? tern_op_check_table(op, datatype) : 0;
    if (!rc)
        rc = tern_op_reduction(op, datatype, &reduction);
    if (rc)
        return rc;
    if (TERN_UNLIKELY(tern_accel_watched))
        return tern_device_reduce(&datatype->type, inbuf, inoutbuf, count, 
                                  reduction.op, reduce_host, &reduction);
    reduce_host(&reduction, inbuf, inoutbuf, count);
    return 0;
}

/* --- making and freeing operations --- */

int tern_mpi_op_create(MPI_User_function *user_fn, MPI_User_function_c *user_fn_c, int commute,
                       struct tern_op **ret_op)
{
    struct tern_op *op = calloc(1, sizeof *op);
    if (!op)
        return tern_error(TERN_ERR_NO_MEM, "no memory for an operation");
    tern_object_init(&op->obj, TERN_MAGIC_OP);
    op->op = TERN_REDUCE_USER;
    op->commutative = commute != 0;
    op->fn = user_fn;
    op->fn_c = user_fn_c;
    op->face = tern_face_caller();
    *ret_op = op;
    return 0;
}

void tern_op_release(struct tern_op *op)
{
    if (tern_unref(&op->obj.refs) > 0 || op->predefined)
        return;
    tern_object_free(&op->obj);
}

int tern_mpi_op_free(struct tern_op **op)
{
    if ((*op)->predefined)
        return tern_error(TERN_ERR_OP, "%s is predefined and cannot be freed", (*op)->name);
    /* The handle is invalid from here on, even if a nonblocking collective still uses the
     * operation. */
    tern_fortran_drop(&(*op)->obj);
    (*op)->obj.own.magic = TERN_MAGIC_FREED;
    tern_op_release(*op);
    *op = NULL;
    return 0;
}

int tern_mpi_op_commutative(struct tern_op *op, int *commute)
{
    *commute = op->commutative;
    return 0;
}

__attribute__((visibility("default"))) void ompi_op_set_cxx_callback(MPI_Op op,
                                                                     MPI_User_function *function)
{
    tern_op_of(op)->cxx = function;
}
