/* SPDX-License-Identifier: BSD-3-Clause */

/* Blocking collectives (MPI-4.1 sections 6.3 to 6.11). */
#include "lib/mpi/coll_describe.h"

#include "lib/util/error.h"

#include <stdlib.h>

#include "lib/mpi/procedures.h"

int tern_mpi_barrier(struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_barrier(&call, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_bcast(void *buffer, MPI_Count count, struct tern_datatype *datatype, int root,
                   struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_bcast(&call, buffer, count, datatype, root, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_gather(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                    void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype, int root,
                    struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_gather(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                  root, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_gatherv(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                     void *recvbuf, struct tern_ints recvcounts, struct tern_ints displs,
                     struct tern_datatype *recvtype, int root, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_gatherv(&call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                   recvtype, root, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_scatter(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                     void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype, int root,
                     struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_scatter(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                   recvtype, root, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_scatterv(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints displs,
                      struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                      struct tern_datatype *recvtype, int root, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_scatterv(&call, sendbuf, sendcounts, displs, sendtype, recvbuf,
                                    recvcount, recvtype, root, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_allgather(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                       void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype,
                       struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_allgather(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                     recvtype, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_allgatherv(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                        void *recvbuf, struct tern_ints recvcounts, struct tern_ints displs,
                        struct tern_datatype *recvtype, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_allgatherv(&call, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                      displs, recvtype, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_alltoall(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                      void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype,
                      struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_alltoall(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                    recvtype, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_alltoallv(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints sdispls,
                       struct tern_datatype *sendtype, void *recvbuf, struct tern_ints recvcounts,
                       struct tern_ints rdispls, struct tern_datatype *recvtype,
                       struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_alltoallv(&call, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                     recvcounts, rdispls, recvtype, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_reduce(const void *sendbuf, void *recvbuf, MPI_Count count,
                    struct tern_datatype *datatype, struct tern_op *op, int root,
                    struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_reduce(&call, sendbuf, recvbuf, count, datatype, op, root, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_allreduce(const void *sendbuf, void *recvbuf, MPI_Count count,
                       struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_allreduce(&call, sendbuf, recvbuf, count, datatype, op, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_reduce_scatter(const void *sendbuf, void *recvbuf, struct tern_ints recvcounts,
                            struct tern_datatype *datatype, struct tern_op *op,
                            struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_reduce_scatter(&call, sendbuf, recvbuf, recvcounts, datatype, op, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_reduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                  struct tern_datatype *datatype, struct tern_op *op,
                                  struct tern_comm *comm)
{
    struct tern_call call;
    int rc =
        tern_describe_reduce_scatter_block(&call, sendbuf, recvbuf, recvcount, datatype, op, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_scan(const void *sendbuf, void *recvbuf, MPI_Count count,
                  struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_scan(&call, sendbuf, recvbuf, count, datatype, op, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_exscan(const void *sendbuf, void *recvbuf, MPI_Count count,
                    struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm)
{
    struct tern_call call;
    int rc = tern_describe_exscan(&call, sendbuf, recvbuf, count, datatype, op, comm);
    return rc ? rc : tern_call_run(&call);
}

int tern_mpi_alltoallw(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints sdispls,
                       const MPI_Datatype sendtypes[], void *recvbuf, struct tern_ints recvcounts,
                       struct tern_ints rdispls, const MPI_Datatype recvtypes[],
                       struct tern_comm *comm)
{
    struct tern_call call;
    const struct tern_type **flat = malloc(2 * (size_t)tern_comm_blocks(comm) * sizeof *flat);
    if (!flat)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the types of %d blocks",
                          tern_comm_blocks(comm));
    int rc = tern_describe_alltoallw(&call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                     recvcounts, rdispls, recvtypes, comm, flat);
    if (!rc)
        rc = tern_call_run(&call);
    free(flat);
    return rc;
}
