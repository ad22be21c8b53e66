/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OP_H
#define TERN_OP_H

/* Reduction operations (MPI-4.1 sections 6.9.2 and 6.9.5). */

#include "lib/type/reduction.h"
#include "lib/util/handle.h"

#include <mpi.h>
#include <stdbool.h>

struct tern_datatype;
struct tern_reduction;

/* What a C++ program's operation really is; it is handed to the C function that calls it
 * (ompi_op_set_cxx_callback). */
typedef void tern_op_cxx_caller(void *in, void *inout, int *count, MPI_Datatype *datatype,
                                MPI_User_function *cxx);

struct tern_op {
    struct tern_object obj;
    enum tern_reduce_op op; /* TERN_REDUCE_USER: one of the functions */
    bool commutative;
    bool predefined;
    const char *name;          /* of predefined ones, as in mpi.h */
    MPI_User_function *fn;     /* counts are int */
    MPI_User_function_c *fn_c; /* counts are MPI_Count; NULL unless fn is */
    bool fortran;              /* the function gets the datatype as an integer */
    MPI_User_function
        *cxx; /* NULL, or the last argument of fn, which then is a tern_op_cxx_caller */
};

extern struct tern_op tern_op_max, tern_op_min, tern_op_sum, tern_op_prod, tern_op_land,
    tern_op_band, tern_op_lor, tern_op_bor, tern_op_lxor, tern_op_bxor, tern_op_maxloc,
    tern_op_minloc, tern_op_replace, tern_op_no_op;

static inline struct tern_op *tern_op_of(MPI_Op op)
{
    return ((struct tern_handle *)op)->state;
}

/* A reference. The last one frees; predefined ones stay. */
static inline void tern_op_retain(struct tern_op *op)
{
    tern_ref(&op->obj.refs);
}
void tern_op_release(struct tern_op *op);

/* Finds how collectives use `op` on `datatype`. Returns TERN_ERR_OP if the operation is not defined
 * on the type. */
int tern_op_reduction(struct tern_op *op, struct tern_datatype *datatype,
                      struct tern_reduction *ret_reduction);

/* For check_level full. Returns TERN_ERR_OP if tern_op_reduction takes the pair and the standard
 * does not. */
int tern_op_check_table(const struct tern_op *op, const struct tern_datatype *datatype);

/* Called by the inline code of C++ programs, after MPI_Op_create: `function` is the user's. */
void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function *function);

#endif
