/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Neighbourhood collectives (MPI-4.1 section 8.6): blocking, nonblocking, persistent. Only the
 * topology knows how many blocks there are. So the counts and types of blocks are checked here, not
 * at the entry point.
 */
#include "lib/mpi/message/collectives.h"

#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/topo/topo.h"
#include "lib/util/base/error.h"

static int check_counts(struct tern_ints counts, int length, const char *argument)
{
    if (length && !counts.values)
        return tern_error(TERN_ERR_COUNT, "%s is a NULL pointer", argument);
    if (tern_check_level() == TERN_CHECK_NONE)
        return 0;
    int64_t bad = tern_ints_find_below(counts, length, 0);
    if (bad >= 0)
        return tern_error(TERN_ERR_COUNT, "%s[%ld] is %ld; it must be at least 0", argument,
                          (long)bad, (long)tern_ints_at(counts, bad));
    return 0;
}

static int check_array(const void *array, int length, const char *argument)
{
    return length && !array ? tern_error(TERN_ERR_ARG, "%s is a NULL pointer", argument) : 0;
}

static int check_blocks(const struct tern_neighbors *neighbors, struct tern_ints sendcounts,
                        const void *sdispls, struct tern_ints recvcounts, const void *rdispls)
{
    int rc = check_counts(sendcounts, neighbors->outdegree, "sendcounts");
    if (!rc)
        rc = check_array(sdispls, neighbors->outdegree, "sdispls");
    if (!rc)
        rc = check_counts(recvcounts, neighbors->indegree, "recvcounts");
    return rc ? rc : check_array(rdispls, neighbors->indegree, "rdispls");
}

/* Checks the types of those neighbours that exist (not MPI_PROC_NULL). */
static int check_types(const MPI_Datatype types[], const int *ranks, int count,
                       const char *argument)
{
    int rc = check_array(types, count, argument);
    for (int i = 0; i < count && !rc; i++)
        if (ranks[i] >= 0 && tern_datatype_find_bad(&types[i], 1, true) >= 0)
            rc = tern_error(TERN_ERR_TYPE, "%s[%d] is not a committed datatype; call "
                                           "MPI_Type_commit first", argument, i);
    return rc;
}

int tern_mpi_neighbor_allgather(const void *sendbuf, MPI_Count sendcount,
                                struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                                struct tern_datatype *recvtype, struct tern_comm *comm,
                                enum tern_form form, struct tern_request **ret_request)
{
    struct tern_neighbors neighbors;
    struct tern_call call;
    int rc = tern_topo_neighbors(comm, &neighbors);
    if (rc)
        return rc;
    tern_call_neighbor_allgather(&call, &comm->coll, &neighbors, sendbuf, sendcount,
                                 &sendtype->type, recvbuf, recvcount, &recvtype->type);
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
}

int tern_mpi_neighbor_allgatherv(const void *sendbuf, MPI_Count sendcount,
                                 struct tern_datatype *sendtype, void *recvbuf,
                                 struct tern_ints recvcounts, struct tern_ints displs,
                                 struct tern_datatype *recvtype, struct tern_comm *comm,
                                 enum tern_form form, struct tern_request **ret_request)
{
    struct tern_neighbors neighbors;
    struct tern_call call;
    int rc = tern_topo_neighbors(comm, &neighbors);
    if (!rc)
        rc = check_counts(recvcounts, neighbors.indegree, "recvcounts");
    if (!rc)
        rc = check_array(displs.values, neighbors.indegree, "displs");
    if (rc)
        return rc;
    tern_call_neighbor_allgatherv(&call, &comm->coll, &neighbors, sendbuf, sendcount,
                                  &sendtype->type, recvbuf, recvcounts, displs, &recvtype->type);
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
}

int tern_mpi_neighbor_alltoall(const void *sendbuf, MPI_Count sendcount,
                               struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                               struct tern_datatype *recvtype, struct tern_comm *comm,
                               enum tern_form form, struct tern_request **ret_request)
{
    struct tern_neighbors neighbors;
    struct tern_call call;
    int rc = tern_topo_neighbors(comm, &neighbors);
    if (rc)
        return rc;
    tern_call_neighbor_alltoall(&call, &comm->coll, &neighbors, sendbuf, sendcount, &sendtype->type,
                                recvbuf, recvcount, &recvtype->type);
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
}

int tern_mpi_neighbor_alltoallv(const void *sendbuf, struct tern_ints sendcounts,
                                struct tern_ints sdispls, struct tern_datatype *sendtype,
                                void *recvbuf, struct tern_ints recvcounts,
                                struct tern_ints rdispls, struct tern_datatype *recvtype,
                                struct tern_comm *comm, enum tern_form form,
                                struct tern_request **ret_request)
{
    struct tern_neighbors neighbors;
    struct tern_call call;
    int rc = tern_topo_neighbors(comm, &neighbors);
    if (!rc)
        rc = check_blocks(&neighbors, sendcounts, sdispls.values, recvcounts, rdispls.values);
    if (rc)
        return rc;
    tern_call_neighbor_alltoallv(&call, &comm->coll, &neighbors, sendbuf, sendcounts, sdispls,
                                 &sendtype->type, recvbuf, recvcounts, rdispls, &recvtype->type);
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
}

int tern_mpi_neighbor_alltoallw(const void *sendbuf, struct tern_ints sendcounts,
                                const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                void *recvbuf, struct tern_ints recvcounts,
                                const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                struct tern_comm *comm, enum tern_form form,
                                struct tern_request **ret_request)
{
    struct tern_neighbors neighbors;
    struct tern_call call;
    int rc = tern_topo_neighbors(comm, &neighbors);
    if (rc)
        return rc;
    int in = neighbors.indegree, out = neighbors.outdegree;
    rc = check_blocks(&neighbors, sendcounts, sdispls, recvcounts, rdispls);
    if (!rc)
        rc = check_types(sendtypes, neighbors.destinations, out, "sendtypes");
    if (!rc)
        rc = check_types(recvtypes, neighbors.sources, in, "recvtypes");
    struct tern_block_types *types = rc ? NULL : tern_block_types_new((int64_t)out + in);
    if (!types)
        return rc ? rc : TERN_ERR_NO_MEM;
    tern_block_types_add(types, 0, sendtypes, out, neighbors.destinations);
    tern_block_types_add(types, out, recvtypes, in, neighbors.sources);
    tern_call_neighbor_alltoallw(&call, &comm->coll, &neighbors, sendbuf, sendcounts,
                                 (struct tern_ints){sdispls, sizeof *sdispls}, types->flat, recvbuf,
                                 recvcounts, (struct tern_ints){rdispls, sizeof *rdispls},
                                 types->flat + out);
    return tern_mpi_coll_proceed_with_types(&call, comm, types, form, ret_request);
}
