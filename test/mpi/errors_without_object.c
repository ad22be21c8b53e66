/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; needs: MPI_Group_incl */
/* Errors of calls without a communicator go to MPI_COMM_WORLD's handler, as in Open MPI and MPICH: a program that sets
 * MPI_ERRORS_RETURN there, and nowhere else, gets their codes. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));

    MPI_Group world, group;
    MPI_Datatype type;
    MPI_Info info;
    MPI_Request request;
    char port[MPI_MAX_PORT_NAME];
    int outside = size, bytes;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_CLASS(MPI_Group_incl(world, 1, &outside, &group), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Group_rank(MPI_GROUP_NULL, &bytes), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &bytes), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Info_delete(info, "absent"), MPI_ERR_INFO_NOKEY);
    CHECK_CLASS(MPI_Lookup_name("no such service", MPI_INFO_NULL, port), MPI_ERR_NAME);
    CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Buffer_attach(NULL, -1), MPI_ERR_ARG);
    request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);

    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_free(&world));
    return end();
}
