/* SPDX-License-Identifier: BSD-3-Clause */

/* The predefined attribute callbacks, under the names that mpi.h gives them (MPI_COMM_DUP_FN, ...).
 * They copy nothing, copy the value, or delete without doing anything. */

#include <mpi.h>

static int copy_nothing(int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

/* Copies a value. MPI passes the new value through a pointer to void *. */
static int copy_value(void *value, void *ret_value, int *flag)
{
    *(void **)ret_value = value;
    *flag = 1;
    return MPI_SUCCESS;
}

int OMPI_C_MPI_NULL_DELETE_FN(MPI_Comm comm, int keyval, void *value, void *extra_state)
{
    (void)comm, (void)keyval, (void)value, (void)extra_state;
    return MPI_SUCCESS;
}

int OMPI_C_MPI_NULL_COPY_FN(MPI_Comm comm, int keyval, void *extra_state, void *value,
                            void *ret_value, int *flag)
{
    (void)comm, (void)keyval, (void)extra_state, (void)value, (void)ret_value;
    return copy_nothing(flag);
}

int OMPI_C_MPI_DUP_FN(MPI_Comm comm, int keyval, void *extra_state, void *value, void *ret_value,
                      int *flag)
{
    (void)comm, (void)keyval, (void)extra_state;
    return copy_value(value, ret_value, flag);
}

int OMPI_C_MPI_COMM_NULL_DELETE_FN(MPI_Comm comm, int keyval, void *value, void *extra_state)
{
    (void)comm, (void)keyval, (void)value, (void)extra_state;
    return MPI_SUCCESS;
}

int OMPI_C_MPI_COMM_NULL_COPY_FN(MPI_Comm comm, int keyval, void *extra_state, void *value,
                                 void *ret_value, int *flag)
{
    (void)comm, (void)keyval, (void)extra_state, (void)value, (void)ret_value;
    return copy_nothing(flag);
}

int OMPI_C_MPI_COMM_DUP_FN(MPI_Comm comm, int keyval, void *extra_state, void *value,
                           void *ret_value, int *flag)
{
    (void)comm, (void)keyval, (void)extra_state;
    return copy_value(value, ret_value, flag);
}

int OMPI_C_MPI_TYPE_NULL_DELETE_FN(MPI_Datatype type, int keyval, void *value, void *extra_state)
{
    (void)type, (void)keyval, (void)value, (void)extra_state;
    return MPI_SUCCESS;
}

int OMPI_C_MPI_TYPE_NULL_COPY_FN(MPI_Datatype type, int keyval, void *extra_state, void *value,
                                 void *ret_value, int *flag)
{
    (void)type, (void)keyval, (void)extra_state, (void)value, (void)ret_value;
    return copy_nothing(flag);
}

int OMPI_C_MPI_TYPE_DUP_FN(MPI_Datatype type, int keyval, void *extra_state, void *value,
                           void *ret_value, int *flag)
{
    (void)type, (void)keyval, (void)extra_state;
    return copy_value(value, ret_value, flag);
}

int OMPI_C_MPI_WIN_NULL_DELETE_FN(MPI_Win win, int keyval, void *value, void *extra_state)
{
    (void)win, (void)keyval, (void)value, (void)extra_state;
    return MPI_SUCCESS;
}

int OMPI_C_MPI_WIN_NULL_COPY_FN(MPI_Win win, int keyval, void *extra_state, void *value,
                                void *ret_value, int *flag)
{
    (void)win, (void)keyval, (void)extra_state, (void)value, (void)ret_value;
    return copy_nothing(flag);
}

int OMPI_C_MPI_WIN_DUP_FN(MPI_Win win, int keyval, void *extra_state, void *value, void *ret_value,
                          int *flag)
{
    (void)win, (void)keyval, (void)extra_state;
    return copy_value(value, ret_value, flag);
}

/*
 * The predefined callbacks for Fortran. Up to MPI-1 attributes were default integers in Fortran;
 * since MPI-2 they have the size of an address. A logical is an integer that is 0 or 1.
 */

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void mpi_null_copy_fn_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *extra_state,
                                MPI_Fint *value, MPI_Fint *ret_value, MPI_Fint *flag,
                                MPI_Fint *ierror);
void mpi_null_copy_fn_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *extra_state, MPI_Fint *value,
                       MPI_Fint *ret_value, MPI_Fint *flag, MPI_Fint *ierror)
{
    (void)comm, (void)keyval, (void)extra_state, (void)value, (void)ret_value;
    *ierror = copy_nothing(flag);
}

EXPORTED void mpi_dup_fn_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *extra_state, MPI_Fint *value,
                          MPI_Fint *ret_value, MPI_Fint *flag, MPI_Fint *ierror);
void mpi_dup_fn_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *extra_state, MPI_Fint *value,
                 MPI_Fint *ret_value, MPI_Fint *flag, MPI_Fint *ierror)
{
    (void)comm, (void)keyval, (void)extra_state;
    *ret_value = *value;
    *flag = 1;
    *ierror = MPI_SUCCESS;
}

EXPORTED void mpi_null_delete_fn_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value,
                                  MPI_Fint *extra_state, MPI_Fint *ierror);
void mpi_null_delete_fn_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *extra_state,
                         MPI_Fint *ierror)
{
    (void)comm, (void)keyval, (void)value, (void)extra_state;
    *ierror = MPI_SUCCESS;
}

EXPORTED void mpi_comm_null_copy_fn_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra_state,
                                     MPI_Aint *value, MPI_Aint *ret_value, MPI_Fint *flag,
                                     MPI_Fint *ierror);
void mpi_comm_null_copy_fn_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra_state,
                            MPI_Aint *value, MPI_Aint *ret_value, MPI_Fint *flag, MPI_Fint *ierror)
{
    (void)object, (void)keyval, (void)extra_state, (void)value, (void)ret_value;
    *ierror = copy_nothing(flag);
}

EXPORTED void mpi_comm_dup_fn_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra_state,
                               MPI_Aint *value, MPI_Aint *ret_value, MPI_Fint *flag,
                               MPI_Fint *ierror);
void mpi_comm_dup_fn_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra_state, MPI_Aint *value,
                      MPI_Aint *ret_value, MPI_Fint *flag, MPI_Fint *ierror)
{
    (void)object, (void)keyval, (void)extra_state;
    *ret_value = *value;
    *flag = 1;
    *ierror = MPI_SUCCESS;
}

EXPORTED void mpi_comm_null_delete_fn_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value,
                                       MPI_Aint *extra_state, MPI_Fint *ierror);
void mpi_comm_null_delete_fn_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value,
                              MPI_Aint *extra_state, MPI_Fint *ierror)
{
    (void)object, (void)keyval, (void)value, (void)extra_state;
    *ierror = MPI_SUCCESS;
}

EXPORTED void mpi_conversion_fn_null_(void);
void mpi_conversion_fn_null_(void)
{
}

EXPORTED void mpi_conversion_fn_null_c_(void);
void mpi_conversion_fn_null_c_(void)
{
}

/* Defines the names under which Fortran compilers call a function. */
#define NAME(number, symbol, target)                                        \
    extern __typeof__(target) target##number __asm__(symbol)                \
        __attribute__((weak, alias(#target), visibility("default")))
#define NAMES(number, lower, upper, target) \
    NAME(number##1, lower "__", target);    \
    NAME(number##2, lower, target);         \
    NAME(number##3, upper, target)
#define MORE_NAMES(number, lower, upper, target) \
    NAME(number##0, lower "_", target);          \
    NAMES(number, lower, upper, target)

NAMES(0, "mpi_null_copy_fn", "MPI_NULL_COPY_FN", mpi_null_copy_fn_);
NAMES(0, "mpi_dup_fn", "MPI_DUP_FN", mpi_dup_fn_);
NAMES(0, "mpi_null_delete_fn", "MPI_NULL_DELETE_FN", mpi_null_delete_fn_);
NAMES(0, "mpi_comm_null_copy_fn", "MPI_COMM_NULL_COPY_FN", mpi_comm_null_copy_fn_);
NAMES(0, "mpi_comm_dup_fn", "MPI_COMM_DUP_FN", mpi_comm_dup_fn_);
NAMES(0, "mpi_comm_null_delete_fn", "MPI_COMM_NULL_DELETE_FN", mpi_comm_null_delete_fn_);
MORE_NAMES(1, "mpi_type_null_copy_fn", "MPI_TYPE_NULL_COPY_FN", mpi_comm_null_copy_fn_);
MORE_NAMES(1, "mpi_type_dup_fn", "MPI_TYPE_DUP_FN", mpi_comm_dup_fn_);
MORE_NAMES(1, "mpi_type_null_delete_fn", "MPI_TYPE_NULL_DELETE_FN", mpi_comm_null_delete_fn_);
MORE_NAMES(2, "mpi_win_null_copy_fn", "MPI_WIN_NULL_COPY_FN", mpi_comm_null_copy_fn_);
MORE_NAMES(2, "mpi_win_dup_fn", "MPI_WIN_DUP_FN", mpi_comm_dup_fn_);
MORE_NAMES(2, "mpi_win_null_delete_fn", "MPI_WIN_NULL_DELETE_FN", mpi_comm_null_delete_fn_);
NAMES(0, "mpi_conversion_fn_null", "MPI_CONVERSION_FN_NULL", mpi_conversion_fn_null_);
NAMES(0, "mpi_conversion_fn_null_c", "MPI_CONVERSION_FN_NULL_C", mpi_conversion_fn_null_c_);
