// SPDX-License-Identifier: BSD-3-Clause
#ifndef TERN_CXX_CALLBACKS_H
#define TERN_CXX_CALLBACKS_H

/*
 * C functions that call the user's C++ functions. A function written against the C++ bindings gets
 * objects of their classes, but MPI calls C functions. So MPI calls one of the functions here,
 * which makes the object and calls the user's function. The names are Open MPI's: programs were
 * linked with those of operations and generalized requests. The others belong to the same set of
 * symbols.
 */

#include "lib/cxx/bindings.h"

/* The record in which the functions of a data representation find the user's functions. */
struct ompi_cxx_intercept_file_extra_state_t {
    void *read, *write, *extent, *extra_state;
};

extern "C" {

/* ---- operations; libmpi passes the user's function as the last argument
 * (ompi_op_set_cxx_callback) ---- */

/* Calls the user's function with a Datatype object. */
void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *count, MPI_Datatype *datatype,
                               MPI_User_function *function);

/* ---- generalized requests; `extra` is a Grequest::callbacks ---- */

int ompi_mpi_cxx_grequest_query_fn_intercept(void *extra, MPI_Status *status);
/* Calls the user's function and deletes `extra`. */
int ompi_mpi_cxx_grequest_free_fn_intercept(void *extra);
int ompi_mpi_cxx_grequest_cancel_fn_intercept(void *extra, int complete);

/* ---- attributes; `extra` was made by do_create_keyval (attributes.cpp) ---- */

/* `newcomm` is an argument of Open MPI's that no C program sees; it is not used. */
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

/* Make a keyval with the extra state `extra`. `owned`, from malloc or NULL, is freed some time
 * after the keyval's end. `flags` must be 0. Return an MPI error code. */
int ompi_cxx_attr_create_keyval_comm(MPI_Comm_copy_attr_function *copy,
                                     MPI_Comm_delete_attr_function *delete_fn, int *keyval,
                                     void *extra, int flags, void *owned);
int ompi_cxx_attr_create_keyval_type(MPI_Type_copy_attr_function *copy,
                                     MPI_Type_delete_attr_function *delete_fn, int *keyval,
                                     void *extra, int flags, void *owned);
int ompi_cxx_attr_create_keyval_win(MPI_Win_copy_attr_function *copy,
                                    MPI_Win_delete_attr_function *delete_fn, int *keyval,
                                    void *extra, int flags, void *owned);

/* Returns the kind of a communicator: 1 Intracomm, 2 Intercomm, 3 Cartcomm, 4 Graphcomm. */
int ompi_cxx_comm_get_type(MPI_Comm comm);

/* ---- error handlers (errhandlers.cpp) ---- */

/* Make an error handler. `function` is an Errhandler_function of the class. Return
 * MPI_ERRHANDLER_NULL if the handler cannot be made. */
MPI_Errhandler ompi_cxx_errhandler_create_comm(void (*function)());
MPI_Errhandler ompi_cxx_errhandler_create_win(void (*function)());
MPI_Errhandler ompi_cxx_errhandler_create_file(void (*function)());

/* Call `function` with an object of the class. */
void ompi_mpi_cxx_comm_errhandler_invoke(MPI_Comm *comm, int *code, const char *message,
                                         void (*function)());
void ompi_mpi_cxx_win_errhandler_invoke(MPI_Win *win, int *code, const char *message,
                                        void (*function)());
void ompi_mpi_cxx_file_errhandler_invoke(MPI_File *file, int *code, const char *message,
                                         void (*function)());

/* Call the object's error handler. Return the code. */
int ompi_cxx_errhandler_invoke_comm(MPI_Comm comm, int code, const char *message);
int ompi_cxx_errhandler_invoke_file(MPI_File file, int code, const char *message);

/* Functions behind ERRORS_THROW_EXCEPTIONS. They set MPI::mpi_errno, because Debian's build has no
 * exceptions. */
void ompi_mpi_cxx_throw_exception(int *code);
void ompi_mpi_cxx_comm_throw_excptn_fctn(MPI_Comm *comm, int *code, ...);
void ompi_mpi_cxx_win_throw_excptn_fctn(MPI_Win *win, int *code, ...);
void ompi_mpi_cxx_file_throw_excptn_fctn(MPI_File *file, int *code, ...);
/* Sets the functions that `errhandler` calls. */
void ompi_cxx_errhandler_set_callbacks(MPI_Errhandler errhandler,
                                       MPI_Comm_errhandler_function *comm,
                                       MPI_File_errhandler_function *file,
                                       MPI_Win_errhandler_function *win);

/* ---- data representations of files ---- */

/* Returns a new record, which is never freed; NULL if there is no memory. */
struct ompi_cxx_intercept_file_extra_state_t *
ompi_cxx_new_intercept_state(void *read, void *write, void *extent, void *extra_state);

} // extern "C"

#endif
