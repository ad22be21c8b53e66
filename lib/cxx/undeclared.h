// SPDX-License-Identifier: BSD-3-Clause
#ifndef TERN_CXX_UNDECLARED_H
#define TERN_CXX_UNDECLARED_H

/*
 * Procedures that the bindings call and that mpi.h does not declare in this version. libmpi exports
 * them all the same; they raise MPI_ERR_UNSUPPORTED_OPERATION. If mpi.h declares one later, the
 * declaration here is a harmless repetition.
 */

#include <mpi.h>

extern "C" {

extern struct ompi_errhandler_t ompi_mpi_errors_throw_exceptions;
void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function *function);

int MPI_Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *delete_fn,
                          int *keyval, void *extra_state);
int MPI_Win_set_attr(MPI_Win win, int keyval, void *value);
int MPI_Win_delete_attr(MPI_Win win, int keyval);
int MPI_Win_set_name(MPI_Win win, const char *name);
int MPI_Win_get_name(MPI_Win win, char *name, int *length);
int MPI_Win_create_errhandler(MPI_Win_errhandler_function *function, MPI_Errhandler *errhandler);
int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler);
int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler);
int MPI_Win_call_errhandler(MPI_Win win, int errorcode);
int MPI_Win_free(MPI_Win *win);
int MPI_Win_get_group(MPI_Win win, MPI_Group *group);
int MPI_Win_fence(int assertion, MPI_Win win);
int MPI_Win_start(MPI_Group group, int assertion, MPI_Win win);
int MPI_Win_complete(MPI_Win win);
int MPI_Win_post(MPI_Group group, int assertion, MPI_Win win);
int MPI_Win_wait(MPI_Win win);
int MPI_Win_test(MPI_Win win, int *flag);
int MPI_Win_lock(int lock_type, int rank, int assertion, MPI_Win win);
int MPI_Win_unlock(int rank, MPI_Win win);
int MPI_Put(const void *origin, int origin_count, MPI_Datatype origin_datatype, int target,
            MPI_Aint displacement, int target_count, MPI_Datatype target_datatype, MPI_Win win);
int MPI_Get(void *origin, int origin_count, MPI_Datatype origin_datatype, int target,
            MPI_Aint displacement, int target_count, MPI_Datatype target_datatype, MPI_Win win);
int MPI_Accumulate(const void *origin, int origin_count, MPI_Datatype origin_datatype, int target,
                   MPI_Aint displacement, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                   MPI_Win win);

int MPI_File_close(MPI_File *file);
int MPI_File_create_errhandler(MPI_File_errhandler_function *function, MPI_Errhandler *errhandler);
int MPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler);
int MPI_File_call_errhandler(MPI_File file, int errorcode);
int MPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read,
                         MPI_Datarep_conversion_function *write,
                         MPI_Datarep_extent_function *extent, void *extra_state);

int MPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                    MPI_Comm *newcomm);
int MPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm *newcomm);
int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                   MPI_Comm comm, MPI_Comm *intercomm, int errcodes[]);
int MPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[],
                            const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *intercomm,
                            int errcodes[]);
}

#endif
