/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: singleton */
/* The predefined attribute callbacks that Fortran programs pass are there and do what their names
 * say; those of MPI-1 have default integers, the others integers of the size of an address. */
#include "check.h"

#define OLD(name)                                                                                  \
    void name(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *)
#define NEW(name)                                                                                  \
    void name(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Aint *, MPI_Fint *, MPI_Fint *)
#define OLD_DELETE(name) void name(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *)
#define NEW_DELETE(name) void name(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Fint *)

OLD(mpi_null_copy_fn_);
OLD(mpi_dup_fn_);
OLD_DELETE(mpi_null_delete_fn_);
NEW(mpi_comm_null_copy_fn_);
NEW(mpi_comm_dup_fn_);
NEW_DELETE(mpi_comm_null_delete_fn_);
NEW(mpi_type_null_copy_fn_);
NEW(mpi_type_dup_fn_);
NEW_DELETE(mpi_type_null_delete_fn_);
NEW(mpi_win_null_copy_fn_);
NEW(mpi_win_dup_fn_);
NEW_DELETE(mpi_win_null_delete_fn_);

int main(void)
{
    NEW((*const copies[])) = {mpi_comm_null_copy_fn_, mpi_type_null_copy_fn_,
                              mpi_win_null_copy_fn_};
    NEW((*const dups[])) = {mpi_comm_dup_fn_, mpi_type_dup_fn_, mpi_win_dup_fn_};
    NEW_DELETE((*const deletes[])) = {mpi_comm_null_delete_fn_, mpi_type_null_delete_fn_,
                                      mpi_win_null_delete_fn_};
    MPI_Fint object = 0, keyval = 1, extra = 2, flag, ierror, values[] = {-1, 77, -1};
    MPI_Aint long_extra = 2, value = (MPI_Aint)1 << 40, result;
    for (int i = 0; i < 3; i++) {
        flag = ierror = 99;
        result = -1;
        copies[i](&object, &keyval, &long_extra, &value, &result, &flag, &ierror);
        CHECK(flag == 0 && ierror == MPI_SUCCESS && result == -1);
        ierror = 99;
        dups[i](&object, &keyval, &long_extra, &value, &result, &flag, &ierror);
        CHECK(flag == 1 && ierror == MPI_SUCCESS && result == value);
        ierror = 99;
        deletes[i](&object, &keyval, &value, &long_extra, &ierror);
        CHECK_INT(ierror, MPI_SUCCESS);
    }
    flag = ierror = 99;
    mpi_null_copy_fn_(&object, &keyval, &extra, &keyval, &values[1], &flag, &ierror);
    CHECK(flag == 0 && ierror == MPI_SUCCESS && values[1] == 77);
    ierror = 99;
    mpi_dup_fn_(&object, &keyval, &extra, &keyval, &values[1], &flag, &ierror);
    CHECK(flag == 1 && ierror == MPI_SUCCESS && values[1] == 1);
    CHECK(values[0] == -1 && values[2] == -1); /* only four bytes are written */
    ierror = 99;
    mpi_null_delete_fn_(&object, &keyval, &values[1], &extra, &ierror);
    CHECK_INT(ierror, MPI_SUCCESS);
    return 0;
}
