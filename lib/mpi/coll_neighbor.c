/* SPDX-License-Identifier: BSD-3-Clause */

/* Neighbourhood collectives as MPI means them (MPI-4.1 section 8.6). How many blocks there are only the topology knows, so
 * their counts and types are looked at here, not at the entry. */

#include "lib/coll/coll.h"

#include "lib/mpi/comm.h"
#include "lib/mpi/datatype.h"
#include "lib/mpi/entry.h"
#include "lib/mpi/topo.h"
#include "lib/util/error.h"

#include <stdlib.h>

#include "lib/mpi/procedures.h"

enum { NEARBY = 32 }; /* most grids: no allocation */

struct neighborhood {
    struct tern_neighbors neighbors;
    int *sources, *destinations; /* nearby, or allocated */
    int nearby[2 * NEARBY];
};

static int open_neighborhood(struct neighborhood *hood, const struct tern_comm *comm)
{
    int in, out;
    int rc = tern_topo_degrees(comm, &in, &out);
    if (rc)
        return rc;
    hood->sources = hood->nearby;
    if (in + out > 2 * NEARBY && !(hood->sources = malloc(((size_t)in + (size_t)out) * sizeof *hood->sources)))
        return tern_error(TERN_ERR_NO_MEM, "no memory for the ranks of %d neighbours", in + out);
    hood->destinations = hood->sources + in;
    rc = tern_topo_neighbors(comm, hood->sources, hood->destinations);
    if (rc && hood->sources != hood->nearby)
        free(hood->sources);
    hood->neighbors = (struct tern_neighbors){hood->sources, hood->destinations, in, out, comm->topo->kind == TERN_TOPO_CART};
    return rc;
}

static void close_neighborhood(struct neighborhood *hood)
{
    if (hood->sources != hood->nearby)
        free(hood->sources);
}

static int check_counts(struct tern_ints counts, int length, const char *argument)
{
    if (length && !counts.values)
        return tern_error(TERN_ERR_COUNT, "%s is a NULL pointer", argument);
    int64_t bad = tern_entry_find_below(counts, length, 0);
    if (bad >= 0)
        return tern_error(TERN_ERR_COUNT, "%s[%ld] is %ld; it must be at least 0", argument, (long)bad,
                          (long)tern_ints_at(counts, bad));
    return 0;
}

static int check_array(const void *array, int length, const char *argument)
{
    return length && !array ? tern_error(TERN_ERR_ARG, "%s is a NULL pointer", argument) : 0;
}

int tern_mpi_neighbor_allgather(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype, void *recvbuf,
                                MPI_Count recvcount, struct tern_datatype *recvtype, struct tern_comm *comm)
{
    struct neighborhood hood;
    struct tern_call call;
    int rc = open_neighborhood(&hood, comm);
    if (rc)
        return rc;
    tern_call_neighbor_allgather(&call, &comm->coll, &hood.neighbors, sendbuf, sendcount, &sendtype->type, recvbuf,
                                 recvcount, &recvtype->type);
    rc = tern_call_run(&call);
    close_neighborhood(&hood);
    return rc;
}

int tern_mpi_neighbor_allgatherv(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype, void *recvbuf,
                                 struct tern_ints recvcounts, struct tern_ints displs, struct tern_datatype *recvtype,
                                 struct tern_comm *comm)
{
    struct neighborhood hood;
    struct tern_call call;
    int rc = open_neighborhood(&hood, comm);
    if (rc)
        return rc;
    if (!(rc = check_counts(recvcounts, hood.neighbors.indegree, "recvcounts")) &&
        !(rc = check_array(displs.values, hood.neighbors.indegree, "displs"))) {
        tern_call_neighbor_allgatherv(&call, &comm->coll, &hood.neighbors, sendbuf, sendcount, &sendtype->type, recvbuf,
                                      recvcounts, displs, &recvtype->type);
        rc = tern_call_run(&call);
    }
    close_neighborhood(&hood);
    return rc;
}

int tern_mpi_neighbor_alltoall(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype, void *recvbuf,
                               MPI_Count recvcount, struct tern_datatype *recvtype, struct tern_comm *comm)
{
    struct neighborhood hood;
    struct tern_call call;
    int rc = open_neighborhood(&hood, comm);
    if (rc)
        return rc;
    tern_call_neighbor_alltoall(&call, &comm->coll, &hood.neighbors, sendbuf, sendcount, &sendtype->type, recvbuf, recvcount,
                                &recvtype->type);
    rc = tern_call_run(&call);
    close_neighborhood(&hood);
    return rc;
}

static int check_alltoallv(const struct neighborhood *hood, struct tern_ints sendcounts, const void *sdispls,
                           struct tern_ints recvcounts, const void *rdispls)
{
    const struct tern_neighbors *neighbors = &hood->neighbors;
    int rc = check_counts(sendcounts, neighbors->outdegree, "sendcounts");
    if (!rc)
        rc = check_array(sdispls, neighbors->outdegree, "sdispls");
    if (!rc)
        rc = check_counts(recvcounts, neighbors->indegree, "recvcounts");
    return rc ? rc : check_array(rdispls, neighbors->indegree, "rdispls");
}

int tern_mpi_neighbor_alltoallv(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints sdispls,
                                struct tern_datatype *sendtype, void *recvbuf, struct tern_ints recvcounts,
                                struct tern_ints rdispls, struct tern_datatype *recvtype, struct tern_comm *comm)
{
    struct neighborhood hood;
    struct tern_call call;
    int rc = open_neighborhood(&hood, comm);
    if (rc)
        return rc;
    rc = check_alltoallv(&hood, sendcounts, sdispls.values, recvcounts, rdispls.values);
    if (!rc) {
        tern_call_neighbor_alltoallv(&call, &comm->coll, &hood.neighbors, sendbuf, sendcounts, sdispls, &sendtype->type,
                                     recvbuf, recvcounts, rdispls, &recvtype->type);
        rc = tern_call_run(&call);
    }
    close_neighborhood(&hood);
    return rc;
}

/* The flat types of neighbours that are there. */
static int flatten(const MPI_Datatype types[], const int *ranks, int count, const char *argument,
                   const struct tern_type **flat)
{
    int rc = check_array(types, count, argument);
    for (int i = 0; i < count && !rc; i++) {
        flat[i] = NULL;
        if (ranks[i] < 0)
            continue;
        if (tern_entry_find_bad_type(&types[i], 1, true) >= 0)
            return tern_error(TERN_ERR_TYPE, "%s[%d] is no committed datatype", argument, i);
        flat[i] = &tern_datatype_of(types[i])->type;
    }
    return rc;
}

int tern_mpi_neighbor_alltoallw(const void *sendbuf, struct tern_ints sendcounts, const MPI_Aint sdispls[],
                                const MPI_Datatype sendtypes[], void *recvbuf, struct tern_ints recvcounts,
                                const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], struct tern_comm *comm)
{
    struct neighborhood hood;
    struct tern_call call;
    int rc = open_neighborhood(&hood, comm);
    if (rc)
        return rc;
    int in = hood.neighbors.indegree, out = hood.neighbors.outdegree;
    const struct tern_type **flat = malloc(((size_t)in + (size_t)out + 1) * sizeof *flat);
    if (!flat)
        rc = tern_error(TERN_ERR_NO_MEM, "no memory for the types of %d neighbours", in + out);
    if (!rc)
        rc = check_alltoallv(&hood, sendcounts, sdispls, recvcounts, rdispls);
    if (!rc)
        rc = flatten(sendtypes, hood.destinations, out, "sendtypes", flat);
    if (!rc)
        rc = flatten(recvtypes, hood.sources, in, "recvtypes", flat + out);
    if (!rc) {
        tern_call_neighbor_alltoallw(&call, &comm->coll, &hood.neighbors, sendbuf, sendcounts,
                                     (struct tern_ints){sdispls, sizeof *sdispls}, flat, recvbuf, recvcounts,
                                     (struct tern_ints){rdispls, sizeof *rdispls}, flat + out);
        rc = tern_call_run(&call);
    }
    free(flat);
    close_neighborhood(&hood);
    return rc;
}
