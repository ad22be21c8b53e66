/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* With MPI_ERRORS_RETURN wrong arguments give the right class and leave the library working. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm none = MPI_COMM_NULL, copy;
    MPI_Group world, group;
    double real = 0, sum = 0;
    int x = 0, y = 0, ranks[2] = { 0, 0 };
    CHECK_CLASS(MPI_Send(&x, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, -7, 0, comm), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, size, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Irecv(&x, -3, MPI_INT, 0, 0, comm, &request), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Probe(size + 3, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Bcast(&x, 1, MPI_INT, size, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(&x, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(&x, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(&real, &sum, 1, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Comm_size(none, &x), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, 0, 0, none), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_dup(none, &copy), MPI_ERR_COMM);
    CHECK(MPI_Comm_free(&none) != MPI_SUCCESS);
    CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Comm_group(comm, &world));
    CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &x), MPI_ERR_GROUP);
    ranks[0] = size;
    CHECK_CLASS(MPI_Group_incl(world, 1, ranks, &group), MPI_ERR_RANK);
    CHECK_OK(MPI_Group_free(&world));
    CHECK(MPI_Cart_coords(comm, 0, 1, &x) != MPI_SUCCESS);
    CHECK(MPI_Comm_split(comm, -5, 0, &copy) != MPI_SUCCESS);
    CHECK(MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
    /* Nothing above may have left a message or an open collective behind. */
    x = 1;
    CHECK_OK(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(y, size);
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &x, MPI_STATUS_IGNORE));
    CHECK_INT(x, 0);
    return end();
}
