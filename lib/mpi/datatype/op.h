/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OP_H
#define TERN_OP_H

/* Reduction operations (MPI-4.1 sections 6.9.2 and 6.9.5). */

#include "lib/type/reduction.h"
#include "lib/util/base/handle.h"

#include <mpi.h>
#include <stdbool.h>

struct tern_face;
struct tern_datatype;
struct tern_reduction;

/* The real function of an operation of a C++ program. Open MPI's C++ headers give MPI_Op_create a C
 * function that calls the C++ function, which this C function gets as its last argument
 * (ompi_op_set_cxx_callback). */
typedef void tern_op_cxx_caller(void *in, void *inout, int *count, MPI_Datatype *datatype,
                                MPI_User_function *cxx);

/* An operation. */
struct tern_op {
    struct tern_object obj;
    enum tern_reduce_op op; /* TERN_REDUCE_USER: one of the user's functions below */
    bool commutative;
    bool predefined;
    const char *name;          /* of predefined operations, as in mpi.h; else NULL */
    MPI_User_function *fn;     /* user's function with int counts, or NULL */
    MPI_User_function_c *fn_c; /* user's function with MPI_Count counts; NULL if fn is set */
    const struct tern_face *face; /* how the function is called (face.h); NULL: from C */
    /* NULL, or the last argument of fn, which then is a tern_op_cxx_caller */
    MPI_User_function *cxx;
};

/* The predefined operations. */
extern struct tern_op tern_op_max, tern_op_min, tern_op_sum, tern_op_prod, tern_op_land,
    tern_op_band, tern_op_lor, tern_op_bor, tern_op_lxor, tern_op_bxor, tern_op_maxloc,
    tern_op_minloc, tern_op_replace, tern_op_no_op;

/* Returns the operation of a valid handle. */
static inline struct tern_op *tern_op_of(MPI_Op op)
{
    return ((struct tern_handle *)op)->state;
}

/* Take or drop a reference. Dropping the last one frees the operation, unless it is predefined. */
static inline void tern_op_retain(struct tern_op *op)
{
    tern_ref(&op->obj.refs);
}
void tern_op_release(struct tern_op *op);

/* Finds how collectives use `op` on `datatype`. Returns 0, or TERN_ERR_OP if the operation is not
 * defined on the type. */
int tern_op_reduction(struct tern_op *op, struct tern_datatype *datatype,
                      struct tern_reduction *ret_reduction);

/* Checks the standard's table, for check_level full. Returns TERN_ERR_OP if the standard does not
 * allow the pair although tern_op_reduction accepts it, else 0. */
int tern_op_check_table(const struct tern_op *op, const struct tern_datatype *datatype);

/* Sets the C++ function of an operation. The inline code of C++ programs calls it after
 * MPI_Op_create. */
void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function *function);

#endif
