/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/coll_describe.h"

#include "lib/util/error.h"

/* Types that are not significant here come as NULL. */
static const struct tern_type *type_of(const struct tern_datatype *datatype)
{
    return datatype ? &datatype->type : &tern_type_bytes;
}

static int root_of(const struct tern_comm *comm, int root)
{
    if (!tern_comm_inter(comm))
        return root;
    return root == MPI_ROOT ? TERN_ROOT_ME : root == MPI_PROC_NULL ? TERN_ROOT_BESIDE_ME : root;
}

/* MPI_IN_PLACE stands for `argument`: `allowed` is whether this rank may say so. */
static int check_in_place(const struct tern_comm *comm, const void *buf, const char *argument,
                          bool allowed)
{
    if (buf != MPI_IN_PLACE)
        return 0;
    if (tern_comm_inter(comm))
        return tern_error(TERN_ERR_BUFFER,
                          "%s is MPI_IN_PLACE, which has no meaning on an intercommunicator",
                          argument);
    if (!allowed)
        return tern_error(TERN_ERR_BUFFER, "%s is MPI_IN_PLACE, which only the root may give",
                          argument);
    return 0;
}

/* The same buffer twice is not allowed by the standard; it can only mean MPI_IN_PLACE, and other
 * libraries get along with it. */
static const void *input_of(const void *sendbuf, const void *recvbuf, bool has_result)
{
    return sendbuf == recvbuf && has_result ? MPI_IN_PLACE : sendbuf;
}

int tern_describe_barrier(struct tern_call *call, struct tern_comm *comm)
{
    tern_call_barrier(call, &comm->coll);
    return 0;
}

int tern_describe_bcast(struct tern_call *call, void *buffer, MPI_Count count,
                        struct tern_datatype *datatype, int root, struct tern_comm *comm)
{
    tern_call_bcast(call, &comm->coll, buffer, count, type_of(datatype), root_of(comm, root));
    return 0;
}

int tern_describe_gather(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                         struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                         struct tern_datatype *recvtype, int root, struct tern_comm *comm)
{
    int rc = check_in_place(comm, sendbuf, "sendbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_gather(call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount,
                     type_of(recvtype), root_of(comm, root));
    return 0;
}

int tern_describe_gatherv(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                          struct tern_datatype *sendtype, void *recvbuf,
                          struct tern_ints recvcounts, struct tern_ints displs,
                          struct tern_datatype *recvtype, int root, struct tern_comm *comm)
{
    int rc = check_in_place(comm, sendbuf, "sendbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_gatherv(call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts,
                      displs, type_of(recvtype), root_of(comm, root));
    return 0;
}

int tern_describe_scatter(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                          struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                          struct tern_datatype *recvtype, int root, struct tern_comm *comm)
{
    int rc = check_in_place(comm, recvbuf, "recvbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_scatter(call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount,
                      type_of(recvtype), root_of(comm, root));
    return 0;
}

int tern_describe_scatterv(struct tern_call *call, const void *sendbuf, struct tern_ints sendcounts,
                           struct tern_ints displs, struct tern_datatype *sendtype, void *recvbuf,
                           MPI_Count recvcount, struct tern_datatype *recvtype, int root,
                           struct tern_comm *comm)
{
    int rc = check_in_place(comm, recvbuf, "recvbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_scatterv(call, &comm->coll, sendbuf, sendcounts, displs, type_of(sendtype), recvbuf,
                       recvcount, type_of(recvtype), root_of(comm, root));
    return 0;
}

int tern_describe_allgather(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                            struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                            struct tern_datatype *recvtype, struct tern_comm *comm)
{
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_allgather(call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf,
                        recvcount, type_of(recvtype));
    return 0;
}

int tern_describe_allgatherv(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                             struct tern_datatype *sendtype, void *recvbuf,
                             struct tern_ints recvcounts, struct tern_ints displs,
                             struct tern_datatype *recvtype, struct tern_comm *comm)
{
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_allgatherv(call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf,
                         recvcounts, displs, type_of(recvtype));
    return 0;
}

int tern_describe_alltoall(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                           struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                           struct tern_datatype *recvtype, struct tern_comm *comm)
{
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_alltoall(call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount,
                       type_of(recvtype));
    return 0;
}

int tern_describe_alltoallv(struct tern_call *call, const void *sendbuf,
                            struct tern_ints sendcounts, struct tern_ints sdispls,
                            struct tern_datatype *sendtype, void *recvbuf,
                            struct tern_ints recvcounts, struct tern_ints rdispls,
                            struct tern_datatype *recvtype, struct tern_comm *comm)
{
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_alltoallv(call, &comm->coll, sendbuf, sendcounts, sdispls, type_of(sendtype), recvbuf,
                        recvcounts, rdispls, type_of(recvtype));
    return 0;
}

static void flatten(const MPI_Datatype types[], int count, const struct tern_type **flat)
{
    for (int i = 0; i < count; i++)
        flat[i] = &tern_datatype_of(types[i])->type;
}

int tern_describe_alltoallw(struct tern_call *call, const void *sendbuf,
                            struct tern_ints sendcounts, struct tern_ints sdispls,
                            const MPI_Datatype sendtypes[], void *recvbuf,
                            struct tern_ints recvcounts, struct tern_ints rdispls,
                            const MPI_Datatype recvtypes[], struct tern_comm *comm,
                            const struct tern_type **flat)
{
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    int blocks = tern_comm_blocks(comm);
    if (sendbuf != MPI_IN_PLACE)
        flatten(sendtypes, blocks, flat);
    flatten(recvtypes, blocks, flat + blocks);
    tern_call_alltoallw(call, &comm->coll, sendbuf, sendcounts, sdispls, flat, recvbuf, recvcounts,
                        rdispls, flat + blocks);
    return 0;
}

int tern_describe_reduce(struct tern_call *call, const void *sendbuf, void *recvbuf,
                         MPI_Count count, struct tern_datatype *datatype, struct tern_op *op,
                         int root, struct tern_comm *comm)
{
    struct tern_reduction reduction = {.commutative = true};
    bool at_root = root == comm->coll.rank && !tern_comm_inter(comm);
    int rc = check_in_place(comm, sendbuf, "sendbuf", at_root);
    if (!rc && op) /* NULL: beside the root of an intercommunicator */
        rc = tern_op_reduction(op, datatype, &reduction);
    if (rc)
        return rc;
    tern_call_reduce(call, &comm->coll, input_of(sendbuf, recvbuf, at_root), recvbuf, count,
                     type_of(datatype), &reduction, root_of(comm, root));
    return 0;
}

int tern_describe_allreduce(struct tern_call *call, const void *sendbuf, void *recvbuf,
                            MPI_Count count, struct tern_datatype *datatype, struct tern_op *op,
                            struct tern_comm *comm)
{
    struct tern_reduction reduction;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (!rc)
        rc = tern_op_reduction(op, datatype, &reduction);
    if (rc)
        return rc;
    tern_call_allreduce(call, &comm->coll, input_of(sendbuf, recvbuf, !tern_comm_inter(comm)),
                        recvbuf, count, &datatype->type, &reduction);
    return 0;
}

int tern_describe_reduce_scatter(struct tern_call *call, const void *sendbuf, void *recvbuf,
                                 struct tern_ints recvcounts, struct tern_datatype *datatype,
                                 struct tern_op *op, struct tern_comm *comm)
{
    struct tern_reduction reduction;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (!rc)
        rc = tern_op_reduction(op, datatype, &reduction);
    if (rc)
        return rc;
    tern_call_reduce_scatter(call, &comm->coll, input_of(sendbuf, recvbuf, !tern_comm_inter(comm)),
                             recvbuf, recvcounts, &datatype->type, &reduction);
    return 0;
}

int tern_describe_reduce_scatter_block(struct tern_call *call, const void *sendbuf, void *recvbuf,
                                       MPI_Count recvcount, struct tern_datatype *datatype,
                                       struct tern_op *op, struct tern_comm *comm)
{
    struct tern_reduction reduction;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (!rc)
        rc = tern_op_reduction(op, datatype, &reduction);
    if (rc)
        return rc;
    tern_call_reduce_scatter_block(call, &comm->coll,
                                   input_of(sendbuf, recvbuf, !tern_comm_inter(comm)), recvbuf,
                                   recvcount, &datatype->type, &reduction);
    return 0;
}

static int prepare_scan(const void *sendbuf, struct tern_datatype *datatype, struct tern_op *op,
                        struct tern_comm *comm, struct tern_reduction *ret_reduction)
{
    if (tern_comm_inter(comm))
        return tern_error(
            TERN_ERR_COMM,
            "comm is an intercommunicator; prefix reductions need an intracommunicator");
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    return rc ? rc : tern_op_reduction(op, datatype, ret_reduction);
}

int tern_describe_scan(struct tern_call *call, const void *sendbuf, void *recvbuf, MPI_Count count,
                       struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm)
{
    struct tern_reduction reduction;
    int rc = prepare_scan(sendbuf, datatype, op, comm, &reduction);
    if (rc)
        return rc;
    tern_call_scan(call, &comm->coll, input_of(sendbuf, recvbuf, true), recvbuf, count,
                   &datatype->type, &reduction);
    return 0;
}

int tern_describe_exscan(struct tern_call *call, const void *sendbuf, void *recvbuf,
                         MPI_Count count, struct tern_datatype *datatype, struct tern_op *op,
                         struct tern_comm *comm)
{
    struct tern_reduction reduction;
    int rc = prepare_scan(sendbuf, datatype, op, comm, &reduction);
    if (rc)
        return rc;
    tern_call_exscan(call, &comm->coll, input_of(sendbuf, recvbuf, true), recvbuf, count,
                     &datatype->type, &reduction);
    return 0;
}
