/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The predefined handles are addresses of objects that the library exports. A program linked without -fPIC has its own
 * copies of those it names (COPY relocations), and the library must use the program's copies: each handle it gives back
 * has to be the address that the program sees. A library linked with -Bsymbolic, or with protected symbols, fails here.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

static int failures;

static void same(const void *seen, const void *given, const char *what)
{
    if (seen != given) {
        printf("%s: the program has %p, the library %p\n", what, seen, given);
        failures++;
    }
}

/* The handle as the loader resolves its name, as the library turns it into a Fortran index and back. */
#define SAME_HANDLE(symbol, handle, kind)                                                                              \
    do {                                                                                                               \
        same(handle, dlsym(RTLD_DEFAULT, #symbol), #symbol " by name");                                                \
        same(handle, kind##_f2c(kind##_c2f(handle)), #symbol " through Fortran and back");                             \
    } while (0)

static void check_handles(void)
{
    SAME_HANDLE(ompi_mpi_comm_world, MPI_COMM_WORLD, MPI_Comm);
    SAME_HANDLE(ompi_mpi_comm_self, MPI_COMM_SELF, MPI_Comm);
    SAME_HANDLE(ompi_mpi_comm_null, MPI_COMM_NULL, MPI_Comm);
    SAME_HANDLE(ompi_mpi_group_empty, MPI_GROUP_EMPTY, MPI_Group);
    SAME_HANDLE(ompi_mpi_group_null, MPI_GROUP_NULL, MPI_Group);
    SAME_HANDLE(ompi_mpi_int, MPI_INT, MPI_Type);
    SAME_HANDLE(ompi_mpi_double, MPI_DOUBLE, MPI_Type);
    SAME_HANDLE(ompi_mpi_2int, MPI_2INT, MPI_Type);
    SAME_HANDLE(ompi_mpi_datatype_null, MPI_DATATYPE_NULL, MPI_Type);
    SAME_HANDLE(ompi_mpi_op_sum, MPI_SUM, MPI_Op);
    SAME_HANDLE(ompi_mpi_op_null, MPI_OP_NULL, MPI_Op);
    SAME_HANDLE(ompi_mpi_errors_are_fatal, MPI_ERRORS_ARE_FATAL, MPI_Errhandler);
    SAME_HANDLE(ompi_mpi_errors_return, MPI_ERRORS_RETURN, MPI_Errhandler);
    SAME_HANDLE(ompi_mpi_info_null, MPI_INFO_NULL, MPI_Info);
    SAME_HANDLE(ompi_request_null, MPI_REQUEST_NULL, MPI_Request);
}

/* What procedures return. */
static void check_results(void)
{
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    same(MPI_ERRORS_ARE_FATAL, handler, "error handler of MPI_COMM_WORLD");

    MPI_Group group, empty;
    MPI_Comm_group(MPI_COMM_SELF, &group);
    MPI_Group_difference(group, group, &empty);
    same(MPI_GROUP_EMPTY, empty, "difference of equal groups");
    MPI_Group_free(&group);
    same(MPI_GROUP_NULL, group, "a freed group");

    MPI_Datatype pair, part;
    int count;
    MPI_Aint no_addresses[1];
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_get_contents(pair, 1, 0, 1, &count, no_addresses, &part);
    same(MPI_INT, part, "what a datatype is made of");
    MPI_Type_free(&pair);
    same(MPI_DATATYPE_NULL, pair, "a freed datatype");

    int value = 5, sum = 0;
    MPI_Request request;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    if (sum != 5) {
        printf("MPI_Allreduce gave %d instead of 5\n", sum);
        failures++;
    }
    MPI_Isend(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Recv(&sum, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    same(MPI_REQUEST_NULL, request, "a finished request");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_handles();
    check_results();
    MPI_Finalize();
    printf("%d failures\n", failures);
    return failures != 0;
}
