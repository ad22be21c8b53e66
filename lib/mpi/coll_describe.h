/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COLL_DESCRIBE_H
#define TERN_COLL_DESCRIBE_H

/*
 * From the arguments of a collective to a call that can be run, started or prepared
 * (lib/coll/coll.h). The entry point has looked at each significant argument by itself; what is
 * found here is MPI_IN_PLACE where it may not stand, and an operation that is not defined on the
 * type. Arguments that are not significant on this rank come as NULL.
 */

#include "lib/coll/coll.h"
#include "lib/mpi/comm.h"
#include "lib/mpi/datatype.h"
#include "lib/mpi/op.h"

/* Blocks that this rank exchanges in an all-to-all. */
static inline int tern_comm_blocks(const struct tern_comm *comm)
{
    return comm->coll.remote_size ? comm->coll.remote_size : comm->coll.size;
}

/* 0, TERN_ERR_BUFFER, TERN_ERR_OP; TERN_ERR_COMM for prefix reductions on an intercommunicator.
 * `flat`: room for the types of 2 * tern_comm_blocks() blocks, to be kept as long as the call. */
int tern_describe_barrier(struct tern_call *call, struct tern_comm *comm);
int tern_describe_bcast(struct tern_call *call, void *buffer, MPI_Count count,
                        struct tern_datatype *datatype, int root, struct tern_comm *comm);
int tern_describe_gather(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                         struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                         struct tern_datatype *recvtype, int root, struct tern_comm *comm);
int tern_describe_gatherv(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                          struct tern_datatype *sendtype, void *recvbuf,
                          struct tern_ints recvcounts, struct tern_ints displs,
                          struct tern_datatype *recvtype, int root, struct tern_comm *comm);
int tern_describe_scatter(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                          struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                          struct tern_datatype *recvtype, int root, struct tern_comm *comm);
int tern_describe_scatterv(struct tern_call *call, const void *sendbuf, struct tern_ints sendcounts,
                           struct tern_ints displs, struct tern_datatype *sendtype, void *recvbuf,
                           MPI_Count recvcount, struct tern_datatype *recvtype, int root,
                           struct tern_comm *comm);
int tern_describe_allgather(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                            struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                            struct tern_datatype *recvtype, struct tern_comm *comm);
int tern_describe_allgatherv(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                             struct tern_datatype *sendtype, void *recvbuf,
                             struct tern_ints recvcounts, struct tern_ints displs,
                             struct tern_datatype *recvtype, struct tern_comm *comm);
int tern_describe_alltoall(struct tern_call *call, const void *sendbuf, MPI_Count sendcount,
                           struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                           struct tern_datatype *recvtype, struct tern_comm *comm);
int tern_describe_alltoallv(struct tern_call *call, const void *sendbuf,
                            struct tern_ints sendcounts, struct tern_ints sdispls,
                            struct tern_datatype *sendtype, void *recvbuf,
                            struct tern_ints recvcounts, struct tern_ints rdispls,
                            struct tern_datatype *recvtype, struct tern_comm *comm);
int tern_describe_alltoallw(struct tern_call *call, const void *sendbuf,
                            struct tern_ints sendcounts, struct tern_ints sdispls,
                            const MPI_Datatype sendtypes[], void *recvbuf,
                            struct tern_ints recvcounts, struct tern_ints rdispls,
                            const MPI_Datatype recvtypes[], struct tern_comm *comm,
                            const struct tern_type **flat);
int tern_describe_reduce(struct tern_call *call, const void *sendbuf, void *recvbuf,
                         MPI_Count count, struct tern_datatype *datatype, struct tern_op *op,
                         int root, struct tern_comm *comm);
int tern_describe_allreduce(struct tern_call *call, const void *sendbuf, void *recvbuf,
                            MPI_Count count, struct tern_datatype *datatype, struct tern_op *op,
                            struct tern_comm *comm);
int tern_describe_reduce_scatter(struct tern_call *call, const void *sendbuf, void *recvbuf,
                                 struct tern_ints recvcounts, struct tern_datatype *datatype,
                                 struct tern_op *op, struct tern_comm *comm);
int tern_describe_reduce_scatter_block(struct tern_call *call, const void *sendbuf, void *recvbuf,
                                       MPI_Count recvcount, struct tern_datatype *datatype,
                                       struct tern_op *op, struct tern_comm *comm);
int tern_describe_scan(struct tern_call *call, const void *sendbuf, void *recvbuf, MPI_Count count,
                       struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm);
int tern_describe_exscan(struct tern_call *call, const void *sendbuf, void *recvbuf,
                         MPI_Count count, struct tern_datatype *datatype, struct tern_op *op,
                         struct tern_comm *comm);

#endif
