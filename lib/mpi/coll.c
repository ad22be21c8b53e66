/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives as MPI means them (MPI-4.1 chapter 6). The entry point has looked at each significant argument by itself; what
 * is left here is where MPI_IN_PLACE may stand, and whether the operation is defined on the type. lib/coll does the rest.
 */

#include "lib/coll/coll.h"

#include "lib/mpi/comm.h"
#include "lib/mpi/datatype.h"
#include "lib/mpi/op.h"
#include "lib/util/error.h"

#include <stdlib.h>

#include "lib/mpi/procedures.h"

/* Types that are not significant here come as NULL. */
static const struct tern_type no_type = {
    .size = 1, .extent = 1, .true_extent = 1, .elements = 1, .alignment = 1,
    .basic = TERN_BASIC_BYTE, .gapless = true, .contiguous = true, .committed = true,
};

static const struct tern_type *type_of(const struct tern_datatype *datatype)
{
    return datatype ? &datatype->type : &no_type;
}

static int root_of(const struct tern_comm *comm, int root)
{
    if (!tern_comm_inter(comm))
        return root;
    return root == MPI_ROOT ? TERN_ROOT_ME : root == MPI_PROC_NULL ? TERN_ROOT_BESIDE_ME : root;
}

/* MPI_IN_PLACE stands for `argument`: `allowed` is whether this rank may say so. */
static int check_in_place(const struct tern_comm *comm, const void *buf, const char *argument, bool allowed)
{
    if (buf != MPI_IN_PLACE)
        return 0;
    if (tern_comm_inter(comm))
        return tern_error(TERN_ERR_BUFFER, "%s is MPI_IN_PLACE, which has no meaning on an intercommunicator", argument);
    if (!allowed)
        return tern_error(TERN_ERR_BUFFER, "%s is MPI_IN_PLACE, which only the root may give", argument);
    return 0;
}

/* The same buffer twice is not allowed by the standard; it can only mean MPI_IN_PLACE, and other libraries get along with it. */
static const void *input_of(const void *sendbuf, const void *recvbuf, bool has_result)
{
    return sendbuf == recvbuf && has_result ? MPI_IN_PLACE : sendbuf;
}

int tern_mpi_barrier(struct tern_comm *comm)
{
    return tern_coll_barrier(&comm->coll);
}

int tern_mpi_bcast(void *buffer, MPI_Count count, struct tern_datatype *datatype, int root, struct tern_comm *comm)
{
    return tern_coll_bcast(&comm->coll, buffer, count, type_of(datatype), root_of(comm, root));
}

/* --- gather, scatter --- */

int tern_mpi_gather(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype, void *recvbuf,
                    MPI_Count recvcount, struct tern_datatype *recvtype, int root, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_gather(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                     root_of(comm, root));
    return tern_call_run(&call);
}

int tern_mpi_gatherv(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype, void *recvbuf,
                     struct tern_ints recvcounts, struct tern_ints displs, struct tern_datatype *recvtype, int root,
                     struct tern_comm *comm)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_gatherv(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs,
                      type_of(recvtype), root_of(comm, root));
    return tern_call_run(&call);
}

int tern_mpi_scatter(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype, void *recvbuf,
                     MPI_Count recvcount, struct tern_datatype *recvtype, int root, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = check_in_place(comm, recvbuf, "recvbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_scatter(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                      root_of(comm, root));
    return tern_call_run(&call);
}

int tern_mpi_scatterv(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints displs,
                      struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype,
                      int root, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = check_in_place(comm, recvbuf, "recvbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_scatterv(&call, &comm->coll, sendbuf, sendcounts, displs, type_of(sendtype), recvbuf, recvcount,
                       type_of(recvtype), root_of(comm, root));
    return tern_call_run(&call);
}

/* --- allgather, alltoall --- */

int tern_mpi_allgather(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype, void *recvbuf,
                       MPI_Count recvcount, struct tern_datatype *recvtype, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_allgather(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype));
    return tern_call_run(&call);
}

int tern_mpi_allgatherv(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype, void *recvbuf,
                        struct tern_ints recvcounts, struct tern_ints displs, struct tern_datatype *recvtype,
                        struct tern_comm *comm)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_allgatherv(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs,
                         type_of(recvtype));
    return tern_call_run(&call);
}

int tern_mpi_alltoall(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype, void *recvbuf,
                      MPI_Count recvcount, struct tern_datatype *recvtype, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_alltoall(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype));
    return tern_call_run(&call);
}

int tern_mpi_alltoallv(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints sdispls,
                       struct tern_datatype *sendtype, void *recvbuf, struct tern_ints recvcounts, struct tern_ints rdispls,
                       struct tern_datatype *recvtype, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_alltoallv(&call, &comm->coll, sendbuf, sendcounts, sdispls, type_of(sendtype), recvbuf, recvcounts, rdispls,
                        type_of(recvtype));
    return tern_call_run(&call);
}

static void flatten(const MPI_Datatype types[], int count, const struct tern_type **flat)
{
    for (int i = 0; i < count; i++)
        flat[i] = &tern_datatype_of(types[i])->type;
}

int tern_mpi_alltoallw(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints sdispls,
                       const MPI_Datatype sendtypes[], void *recvbuf, struct tern_ints recvcounts, struct tern_ints rdispls,
                       const MPI_Datatype recvtypes[], struct tern_comm *comm)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    int blocks = comm->coll.remote_size ? comm->coll.remote_size : comm->coll.size;
    const struct tern_type **flat = malloc(2 * (size_t)blocks * sizeof *flat);
    if (!flat)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the types of %d blocks", blocks);
    if (sendbuf != MPI_IN_PLACE)
        flatten(sendtypes, blocks, flat);
    flatten(recvtypes, blocks, flat + blocks);
    tern_call_alltoallw(&call, &comm->coll, sendbuf, sendcounts, sdispls, flat, recvbuf, recvcounts, rdispls, flat + blocks);
    rc = tern_call_run(&call);
    free(flat);
    return rc;
}

/* --- reductions --- */

int tern_mpi_reduce(const void *sendbuf, void *recvbuf, MPI_Count count, struct tern_datatype *datatype, struct tern_op *op,
                    int root, struct tern_comm *comm)
{
    struct tern_call call;
    struct tern_reduction reduction = {.commutative = true};
    bool at_root = root == comm->coll.rank && !tern_comm_inter(comm);
    int rc = check_in_place(comm, sendbuf, "sendbuf", at_root);
    if (!rc && op) /* NULL: beside the root of an intercommunicator */
        rc = tern_op_reduction(op, datatype, &reduction);
    if (rc)
        return rc;
    tern_call_reduce(&call, &comm->coll, input_of(sendbuf, recvbuf, at_root), recvbuf, count, type_of(datatype), &reduction,
                     root_of(comm, root));
    return tern_call_run(&call);
}

int tern_mpi_allreduce(const void *sendbuf, void *recvbuf, MPI_Count count, struct tern_datatype *datatype,
                       struct tern_op *op, struct tern_comm *comm)
{
    struct tern_call call;
    struct tern_reduction reduction;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (!rc)
        rc = tern_op_reduction(op, datatype, &reduction);
    if (rc)
        return rc;
    tern_call_allreduce(&call, &comm->coll, input_of(sendbuf, recvbuf, !tern_comm_inter(comm)), recvbuf, count,
                        &datatype->type, &reduction);
    return tern_call_run(&call);
}

int tern_mpi_reduce_scatter(const void *sendbuf, void *recvbuf, struct tern_ints recvcounts, struct tern_datatype *datatype,
                            struct tern_op *op, struct tern_comm *comm)
{
    struct tern_call call;
    struct tern_reduction reduction;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (!rc)
        rc = tern_op_reduction(op, datatype, &reduction);
    if (rc)
        return rc;
    tern_call_reduce_scatter(&call, &comm->coll, input_of(sendbuf, recvbuf, !tern_comm_inter(comm)), recvbuf, recvcounts,
                             &datatype->type, &reduction);
    return tern_call_run(&call);
}

int tern_mpi_reduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount, struct tern_datatype *datatype,
                                  struct tern_op *op, struct tern_comm *comm)
{
    struct tern_call call;
    struct tern_reduction reduction;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (!rc)
        rc = tern_op_reduction(op, datatype, &reduction);
    if (rc)
        return rc;
    tern_call_reduce_scatter_block(&call, &comm->coll, input_of(sendbuf, recvbuf, !tern_comm_inter(comm)), recvbuf, recvcount,
                                   &datatype->type, &reduction);
    return tern_call_run(&call);
}

static int prepare_scan(const void *sendbuf, struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm,
                        struct tern_reduction *ret_reduction)
{
    if (tern_comm_inter(comm))
        return tern_error(TERN_ERR_COMM, "comm is an intercommunicator; prefix reductions need an intracommunicator");
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    return rc ? rc : tern_op_reduction(op, datatype, ret_reduction);
}

int tern_mpi_scan(const void *sendbuf, void *recvbuf, MPI_Count count, struct tern_datatype *datatype, struct tern_op *op,
                  struct tern_comm *comm)
{
    struct tern_call call;
    struct tern_reduction reduction;
    int rc = prepare_scan(sendbuf, datatype, op, comm, &reduction);
    if (rc)
        return rc;
    tern_call_scan(&call, &comm->coll, input_of(sendbuf, recvbuf, true), recvbuf, count, &datatype->type, &reduction);
    return tern_call_run(&call);
}

int tern_mpi_exscan(const void *sendbuf, void *recvbuf, MPI_Count count, struct tern_datatype *datatype, struct tern_op *op,
                    struct tern_comm *comm)
{
    struct tern_call call;
    struct tern_reduction reduction;
    int rc = prepare_scan(sendbuf, datatype, op, comm, &reduction);
    if (rc)
        return rc;
    tern_call_exscan(&call, &comm->coll, input_of(sendbuf, recvbuf, true), recvbuf, count, &datatype->type, &reduction);
    return tern_call_run(&call);
}
