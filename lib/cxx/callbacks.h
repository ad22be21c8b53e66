// SPDX-License-Identifier: BSD-3-Clause
#ifndef TERN_CXX_CALLBACKS_H
#define TERN_CXX_CALLBACKS_H

/*
 * A function that the user has written against the C++ bindings gets objects of their classes, and
 * MPI calls C functions. So each such function is called by one of these C functions, which makes
 * the object. Their names are Open MPI's: programs were linked with those of operations and
 * generalized requests; the others belong to the same set of symbols.
 */

#include "lib/cxx/bindings.h"

/* The record by which the functions of a data representation find the user's. */
struct ompi_cxx_intercept_file_extra_state_t {
    void *read, *write, *extent, *extra_state;
};

extern "C" {

/* ---- operations; libmpi gives the user's function as the last argument (ompi_op_set_cxx_callback)
 * ---- */

void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *count, MPI_Datatype *datatype,
                               MPI_User_function *function);

/* ---- generalized requests; `extra` is a Grequest::callbacks ---- */

int ompi_mpi_cxx_grequest_query_fn_intercept(void *extra, MPI_Status *status);
/* Deletes `extra` too. */
int ompi_mpi_cxx_grequest_free_fn_intercept(void *extra);
int ompi_mpi_cxx_grequest_cancel_fn_intercept(void *extra, int complete);

/* ---- attributes; `extra` was made by do_create_keyval (attributes.cpp) ---- */

/* newcomm is Open MPI's argument, which no C program sees; it is not used. */
int ompi_mpi_cxx_comm_copy_attr_intercept(MPI_Comm from, int keyval, void *extra, void *value,
                                          void *ret_value, int *ret_copies, MPI_Comm newcomm);
int ompi_mpi_cxx_comm_delete_attr_intercept(MPI_Comm comm, int keyval, void *value, void *extra);
int ompi_mpi_cxx_type_copy_attr_intercept(MPI_Datatype from, int keyval, void *extra, void *value,
                                          void *ret_value, int *ret_copies);
int ompi_mpi_cxx_type_delete_attr_intercept(MPI_Datatype type, int keyval, void *value,
                                            void *extra);
int ompi_mpi_cxx_win_copy_attr_intercept(MPI_Win from, int keyval, void *extra, void *value,
                                         void *ret_value, int *ret_copies);
int ompi_mpi_cxx_win_delete_attr_intercept(MPI_Win win, int keyval, void *value, void *extra);

/* A keyval with `extra`. `owned`, from malloc or NULL, is freed when the keyval is no more. `flags`
 * must be 0. */
int ompi_cxx_attr_create_keyval_comm(MPI_Comm_copy_attr_function *copy,
                                     MPI_Comm_delete_attr_function *delete_fn, int *keyval,
                                     void *extra, int flags, void *owned);
int ompi_cxx_attr_create_keyval_type(MPI_Type_copy_attr_function *copy,
                                     MPI_Type_delete_attr_function *delete_fn, int *keyval,
                                     void *extra, int flags, void *owned);
int ompi_cxx_attr_create_keyval_win(MPI_Win_copy_attr_function *copy,
                                    MPI_Win_delete_attr_function *delete_fn, int *keyval,
                                    void *extra, int flags, void *owned);

/* What kind of communicator it is: 1 Intracomm, 2 Intercomm, 3 Cartcomm, 4 Graphcomm. */
int ompi_cxx_comm_get_type(MPI_Comm comm);

/* ---- error handlers (errhandlers.cpp) ---- */

/* `function` is an Errhandler_function of the class. MPI_ERRHANDLER_NULL if it cannot be made. */
MPI_Errhandler ompi_cxx_errhandler_create_comm(void (*function)());
MPI_Errhandler ompi_cxx_errhandler_create_win(void (*function)());
MPI_Errhandler ompi_cxx_errhandler_create_file(void (*function)());

/* Calls `function` with an object of the class. */
void ompi_mpi_cxx_comm_errhandler_invoke(MPI_Comm *comm, int *code, const char *message,
                                         void (*function)());
void ompi_mpi_cxx_win_errhandler_invoke(MPI_Win *win, int *code, const char *message,
                                        void (*function)());
void ompi_mpi_cxx_file_errhandler_invoke(MPI_File *file, int *code, const char *message,
                                         void (*function)());

/* Calls the object's error handler; returns the code. */
int ompi_cxx_errhandler_invoke_comm(MPI_Comm comm, int code, const char *message);
int ompi_cxx_errhandler_invoke_file(MPI_File file, int code, const char *message);

/* What ERRORS_THROW_EXCEPTIONS does: it sets MPI::mpi_errno, for there are no exceptions in
 * Debian's build. */
void ompi_mpi_cxx_throw_exception(int *code);
void ompi_mpi_cxx_comm_throw_excptn_fctn(MPI_Comm *comm, int *code, ...);
void ompi_mpi_cxx_win_throw_excptn_fctn(MPI_Win *win, int *code, ...);
void ompi_mpi_cxx_file_throw_excptn_fctn(MPI_File *file, int *code, ...);
void ompi_cxx_errhandler_set_callbacks(MPI_Errhandler errhandler,
                                       MPI_Comm_errhandler_function *comm,
                                       MPI_File_errhandler_function *file,
                                       MPI_Win_errhandler_function *win);

/* ---- data representations of files ---- */

/* A record that is never freed, or NULL. */
struct ompi_cxx_intercept_file_extra_state_t *
ompi_cxx_new_intercept_state(void *read, void *write, void *extent, void *extra_state);

} // extern "C"

#endif
