/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4; env: OMPI_MCA_check_level=basic */
/* A call that makes a communicator returns when all its processes have made it. The late rank waits a while before its
 * call, and no other rank may report meanwhile that it has returned. */
#include "check.h"

#include <unistd.h>

enum { LOOKS = 40, PAUSE_US = 1000 };

static MPI_Comm watch; /* carries the reports */
static MPI_Comm halves, inter, cart;
static MPI_Group all;
static const char *maker;

static void duplicate(MPI_Comm *made)
{
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, made));
}

static void dup_with_info(MPI_Comm *made)
{
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, made));
}

static void idup(MPI_Comm *made)
{
    MPI_Request request;
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, made, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void dup_inter(MPI_Comm *made)
{
    CHECK_OK(MPI_Comm_dup(inter, made));
}

static void idup_inter(MPI_Comm *made)
{
    MPI_Request request;
    CHECK_OK(MPI_Comm_idup(inter, made, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void create(MPI_Comm *made)
{
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, all, made));
}

static void create_inter(MPI_Comm *made)
{
    MPI_Group group;
    CHECK_OK(MPI_Comm_group(inter, &group));
    CHECK_OK(MPI_Comm_create(inter, group, made));
    CHECK_OK(MPI_Group_free(&group));
}

static void create_group(MPI_Comm *made)
{
    CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, made));
}

static void split(MPI_Comm *made)
{
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, made));
}

static void intercomm_create(MPI_Comm *made)
{
    CHECK_OK(MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 7, made));
}

static void merge(MPI_Comm *made)
{
    CHECK_OK(MPI_Intercomm_merge(inter, rank == 0, made));
}

static void cart_create(MPI_Comm *made)
{
    int ring = 0;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, made));
}

static void cart_sub(MPI_Comm *made)
{
    int keep = 1;
    CHECK_OK(MPI_Cart_sub(cart, &keep, made));
}

static void graph_create(MPI_Comm *made)
{
    int index[4], edges[4];
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, made));
}

static void dist_graph_create(MPI_Comm *made)
{
    int from = rank, degree = 1, to = (rank + 1) % size;
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &from, &degree, &to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, made));
}

static void dist_graph_create_adjacent(MPI_Comm *made)
{
    int from = (rank + size - 1) % size, to = (rank + 1) % size;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made));
}

/* Fails if a rank reports its return before this one has called. */
static void expect_no_return(void)
{
    for (int look = 0; look < LOOKS; look++) {
        int returned;
        MPI_Status status;
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, watch, &returned, &status));
        if (returned)
            FAIL("%s returned on rank %d before rank %d had called it", maker, status.MPI_SOURCE,
                 rank);
        usleep(PAUSE_US);
    }
}

static void check(const char *name, void (*make)(MPI_Comm *made))
{
    maker = name;
    for (int late = 0; late < size; late++) {
        MPI_Comm made;
        CHECK_OK(MPI_Barrier(watch));
        if (rank == late)
            expect_no_return();
        make(&made);
        if (rank != late)
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, late, 0, watch));
        for (int i = 1; rank == late && i < size; i++)
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, watch, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_free(&made));
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &watch));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &halves));
    intercomm_create(&inter);
    cart_create(&cart);

    check("MPI_Comm_dup", duplicate);
    check("MPI_Comm_dup_with_info", dup_with_info);
    check("MPI_Comm_idup", idup);
    check("MPI_Comm_dup of an intercommunicator", dup_inter);
    check("MPI_Comm_idup of an intercommunicator", idup_inter);
    check("MPI_Comm_create", create);
    check("MPI_Comm_create of an intercommunicator", create_inter);
    check("MPI_Comm_create_group", create_group);
    check("MPI_Comm_split", split);
    check("MPI_Intercomm_create", intercomm_create);
    check("MPI_Intercomm_merge", merge);
    check("MPI_Cart_create", cart_create);
    check("MPI_Cart_sub", cart_sub);
    check("MPI_Graph_create", graph_create);
    check("MPI_Dist_graph_create", dist_graph_create);
    check("MPI_Dist_graph_create_adjacent", dist_graph_create_adjacent);

    CHECK_OK(MPI_Comm_free(&cart));
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&halves));
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Comm_free(&watch));
    return end();
}
