/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; libs: -lmpi_mpifh */
/* Messages as Fortran sends them, with more datatypes, communicators and requests than the first part of the tables
 * holds, and with MPI_BOTTOM: the long way of the entry points gives what the short way gives. */
#include "check.h"

enum { MANY = 2100 };

extern char mpi_fortran_bottom_;
void mpi_isend_(void *, int *, MPI_Fint *, int *, int *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_irecv_(void *, int *, MPI_Fint *, int *, int *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_send_(void *, int *, MPI_Fint *, int *, int *, MPI_Fint *, MPI_Fint *);
void mpi_wait_(MPI_Fint *, MPI_Fint *, MPI_Fint *);

static MPI_Fint types[MANY], requests[MANY], zero;
static int in[MANY], one = 1;

/* Receives and sends `value`: the buffers' addresses are arguments, or part of the datatype. */
static void exchange(MPI_Fint comm, MPI_Fint type, int value, int tag)
{
    MPI_Fint request, status[6], ierror = -1;
    int got = 0;

    mpi_irecv_(&got, &one, &type, &zero, &tag, &comm, &request, &ierror);
    CHECK_INT(ierror, MPI_SUCCESS);
    ierror = -1;
    mpi_send_(&value, &one, &type, &zero, &tag, &comm, &ierror);
    CHECK_INT(ierror, MPI_SUCCESS);
    mpi_wait_(&request, status, &ierror);
    CHECK_INT(got, value);
    CHECK_INT(status[1], tag);
}

static void from_bottom(void)
{
    static int absolute = 77, got;
    int length = 1;
    MPI_Aint where;
    MPI_Datatype type;
    MPI_Fint comm = MPI_Comm_c2f(MPI_COMM_SELF), integer = MPI_Type_c2f(MPI_INT), request, status[6], ierror;

    CHECK_OK(MPI_Get_address(&absolute, &where));
    CHECK_OK(MPI_Type_create_hindexed(1, &length, &where, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    MPI_Fint absolute_type = MPI_Type_c2f(type);
    mpi_irecv_(&got, &one, &integer, &zero, &zero, &comm, &request, &ierror);
    mpi_send_(&mpi_fortran_bottom_, &one, &absolute_type, &zero, &zero, &comm, &ierror);
    CHECK_INT(ierror, MPI_SUCCESS);
    mpi_wait_(&request, status, &ierror);
    CHECK_INT(got, 77);
    CHECK_OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    static MPI_Datatype made[MANY];
    MPI_Comm comms[3];
    MPI_Fint self = MPI_Comm_c2f(MPI_COMM_SELF), status[6], ierror;

    start(&argc, &argv);
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(MPI_Type_contiguous(1, MPI_INT, &made[i]));
        CHECK_OK(MPI_Type_commit(&made[i]));
        types[i] = MPI_Type_c2f(made[i]);
    }
    CHECK(types[MANY - 1] >= 2048);
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
    for (int i = 0; i < MANY; i++)
        exchange(MPI_Comm_c2f(comms[i % 3]), types[i], i + 1, i);
    from_bottom();

    for (int i = 0; i < MANY; i++)
        mpi_irecv_(&in[i], &one, &types[i], &zero, &i, &self, &requests[i], &ierror);
    for (int i = 0; i < MANY; i++)
        mpi_send_(&i, &one, &types[i], &zero, &i, &self, &ierror);
    for (int i = MANY - 1; i >= 0; i--) {
        mpi_wait_(&requests[i], status, &ierror);
        CHECK_INT(ierror, MPI_SUCCESS);
        CHECK_INT(in[i], i);
        CHECK_INT(requests[i], 0);
    }

    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < MANY; i++)
        CHECK_OK(MPI_Type_free(&made[i]));
    mpi_send_(in, &one, &types[MANY - 1], &zero, &zero, &self, &ierror);
    CHECK_INT(ierror, MPI_ERR_TYPE);
    MPI_Fint none = 1 << 30, negative = -5;
    mpi_send_(in, &one, &types[0], &zero, &zero, &none, &ierror);
    CHECK_INT(ierror, MPI_ERR_COMM);
    mpi_send_(in, &one, &negative, &zero, &zero, &self, &ierror);
    CHECK_INT(ierror, MPI_ERR_TYPE);
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    return end();
}
