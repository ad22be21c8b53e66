/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Neighbourhood collectives (MPI-4.1 section 8.6): blocking, nonblocking, persistent. How many
 * blocks there are only the topology knows, so their counts and types are looked at here, not at
 * the entry.
 */
#include "lib/mpi/coll.h"

#include "lib/mpi/comm.h"
#include "lib/mpi/datatype.h"
#include "lib/mpi/entry.h"
#include "lib/mpi/topo.h"
#include "lib/util/error.h"

#include <stdlib.h>

/* What a call needs as long as it lasts. */
struct neighborhood {
    struct tern_neighbors neighbors;
    const struct tern_type *
        *flat; /* alltoallw: types of destinations, then sources; NULL where nobody is */
    struct tern_datatype **held; /* derived types, retained if the call outlives the procedure */
    int held_count, held_room;
    int ranks[]; /* sources, then destinations */
};

static void free_neighborhood(void *freed)
{
    struct neighborhood *hood = freed;
    for (int i = 0; i < hood->held_count; i++)
        tern_datatype_release(hood->held[i]);
    free(hood->held);
    free(hood->flat);
    free(hood);
}

static int new_neighborhood(const struct tern_comm *comm, struct neighborhood **ret_hood)
{
    int in, out;
    int rc = tern_topo_degrees(comm, &in, &out);
    if (rc)
        return rc;
    size_t ranks = (size_t)in + (size_t)out;
    struct neighborhood *hood = malloc(sizeof *hood + ranks * sizeof hood->ranks[0]);
    if (!hood)
        return tern_error(TERN_ERR_NO_MEM, "no memory for %zu neighbours", ranks);
    *hood = (struct neighborhood){
        .neighbors = {hood->ranks, hood->ranks + in, in, out, comm->topo->kind == TERN_TOPO_CART},
    };
    rc = tern_topo_neighbors(comm, hood->ranks, hood->ranks + in);
    if (rc) {
        free_neighborhood(hood);
        return rc;
    }
    *ret_hood = hood;
    return 0;
}

static int hold(struct neighborhood *hood, struct tern_datatype *datatype)
{
    if (datatype->predefined)
        return 0;
    if (hood->held_count == hood->held_room) {
        int room = 2 * hood->held_room + 2;
        struct tern_datatype **held = realloc(hood->held, (size_t)room * sizeof *held);
        if (!held)
            return tern_error(TERN_ERR_NO_MEM, "no memory for the types of a collective");
        hood->held = held;
        hood->held_room = room;
    }
    tern_datatype_retain(hood->held[hood->held_count++] = datatype);
    return 0;
}

/* Does the call in its form; the neighbourhood goes with it. `rc`: what was found so far. */
static int proceed(struct tern_call *call, struct neighborhood *hood, struct tern_comm *comm,
                   enum tern_form form, struct tern_request **ret_request, int rc)
{
    if (!rc && form != TERN_BLOCKING) {
        call->held = hood;
        call->let_go = free_neighborhood;
        return tern_mpi_coll_begin(call, comm, form, ret_request);
    }
    if (!rc)
        rc = tern_call_run(call);
    free_neighborhood(hood);
    return rc;
}

static int hold_types(struct neighborhood *hood, struct tern_datatype *a, struct tern_datatype *b,
                      enum tern_form form)
{
    if (form == TERN_BLOCKING)
        return 0;
    int rc = hold(hood, a);
    return rc ? rc : hold(hood, b);
}

static int check_counts(struct tern_ints counts, int length, const char *argument)
{
    if (length && !counts.values)
        return tern_error(TERN_ERR_COUNT, "%s is a NULL pointer", argument);
    int64_t bad = tern_entry_find_below(counts, length, 0);
    if (bad >= 0)
        return tern_error(TERN_ERR_COUNT, "%s[%ld] is %ld; it must be at least 0", argument,
                          (long)bad, (long)tern_ints_at(counts, bad));
    return 0;
}

static int check_array(const void *array, int length, const char *argument)
{
    return length && !array ? tern_error(TERN_ERR_ARG, "%s is a NULL pointer", argument) : 0;
}

static int check_blocks(const struct neighborhood *hood, struct tern_ints sendcounts,
                        const void *sdispls, struct tern_ints recvcounts, const void *rdispls)
{
    const struct tern_neighbors *neighbors = &hood->neighbors;
    int rc = check_counts(sendcounts, neighbors->outdegree, "sendcounts");
    if (!rc)
        rc = check_array(sdispls, neighbors->outdegree, "sdispls");
    if (!rc)
        rc = check_counts(recvcounts, neighbors->indegree, "recvcounts");
    return rc ? rc : check_array(rdispls, neighbors->indegree, "rdispls");
}

/* The flat types of neighbours that are there. */
static int flatten(struct neighborhood *hood, const MPI_Datatype types[], const int *ranks,
                   int count, const char *argument, const struct tern_type **flat,
                   enum tern_form form)
{
    int rc = check_array(types, count, argument);
    for (int i = 0; i < count && !rc; i++) {
        flat[i] = NULL;
        if (ranks[i] < 0)
            continue;
        if (tern_entry_find_bad_type(&types[i], 1, true) >= 0)
            return tern_error(TERN_ERR_TYPE, "%s[%d] is no committed datatype", argument, i);
        flat[i] = &tern_datatype_of(types[i])->type;
        if (form != TERN_BLOCKING)
            rc = hold(hood, tern_datatype_of(types[i]));
    }
    return rc;
}

int tern_mpi_neighbor_allgather(const void *sendbuf, MPI_Count sendcount,
                                struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                                struct tern_datatype *recvtype, struct tern_comm *comm,
                                enum tern_form form, struct tern_request **ret_request)
{
    struct neighborhood *hood;
    struct tern_call call;
    int rc = new_neighborhood(comm, &hood);
    if (rc)
        return rc;
    const struct tern_neighbors *neighbors = &hood->neighbors;
    rc = hold_types(hood, sendtype, recvtype, form);
    tern_call_neighbor_allgather(&call, &comm->coll, neighbors, sendbuf, sendcount, &sendtype->type,
                                 recvbuf, recvcount, &recvtype->type);
    return proceed(&call, hood, comm, form, ret_request, rc);
}

int tern_mpi_neighbor_allgatherv(const void *sendbuf, MPI_Count sendcount,
                                 struct tern_datatype *sendtype, void *recvbuf,
                                 struct tern_ints recvcounts, struct tern_ints displs,
                                 struct tern_datatype *recvtype, struct tern_comm *comm,
                                 enum tern_form form, struct tern_request **ret_request)
{
    struct neighborhood *hood;
    struct tern_call call;
    int rc = new_neighborhood(comm, &hood);
    if (rc)
        return rc;
    const struct tern_neighbors *neighbors = &hood->neighbors;
    rc = check_counts(recvcounts, neighbors->indegree, "recvcounts");
    if (!rc)
        rc = check_array(displs.values, neighbors->indegree, "displs");
    if (!rc)
        rc = hold_types(hood, sendtype, recvtype, form);
    tern_call_neighbor_allgatherv(&call, &comm->coll, neighbors, sendbuf, sendcount,
                                  &sendtype->type, recvbuf, recvcounts, displs, &recvtype->type);
    return proceed(&call, hood, comm, form, ret_request, rc);
}

int tern_mpi_neighbor_alltoall(const void *sendbuf, MPI_Count sendcount,
                               struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                               struct tern_datatype *recvtype, struct tern_comm *comm,
                               enum tern_form form, struct tern_request **ret_request)
{
    struct neighborhood *hood;
    struct tern_call call;
    int rc = new_neighborhood(comm, &hood);
    if (rc)
        return rc;
    const struct tern_neighbors *neighbors = &hood->neighbors;
    rc = hold_types(hood, sendtype, recvtype, form);
    tern_call_neighbor_alltoall(&call, &comm->coll, neighbors, sendbuf, sendcount, &sendtype->type,
                                recvbuf, recvcount, &recvtype->type);
    return proceed(&call, hood, comm, form, ret_request, rc);
}

int tern_mpi_neighbor_alltoallv(const void *sendbuf, struct tern_ints sendcounts,
                                struct tern_ints sdispls, struct tern_datatype *sendtype,
                                void *recvbuf, struct tern_ints recvcounts,
                                struct tern_ints rdispls, struct tern_datatype *recvtype,
                                struct tern_comm *comm, enum tern_form form,
                                struct tern_request **ret_request)
{
    struct neighborhood *hood;
    struct tern_call call;
    int rc = new_neighborhood(comm, &hood);
    if (rc)
        return rc;
    const struct tern_neighbors *neighbors = &hood->neighbors;
    rc = check_blocks(hood, sendcounts, sdispls.values, recvcounts, rdispls.values);
    if (!rc)
        rc = hold_types(hood, sendtype, recvtype, form);
    tern_call_neighbor_alltoallv(&call, &comm->coll, neighbors, sendbuf, sendcounts, sdispls,
                                 &sendtype->type, recvbuf, recvcounts, rdispls, &recvtype->type);
    return proceed(&call, hood, comm, form, ret_request, rc);
}

int tern_mpi_neighbor_alltoallw(const void *sendbuf, struct tern_ints sendcounts,
                                const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                void *recvbuf, struct tern_ints recvcounts,
                                const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                struct tern_comm *comm, enum tern_form form,
                                struct tern_request **ret_request)
{
    struct neighborhood *hood;
    struct tern_call call;
    int rc = new_neighborhood(comm, &hood);
    if (rc)
        return rc;
    const struct tern_neighbors *neighbors = &hood->neighbors;
    int in = neighbors->indegree, out = neighbors->outdegree;
    hood->flat = calloc((size_t)in + (size_t)out + 1, sizeof *hood->flat);
    if (!hood->flat)
        rc = tern_error(TERN_ERR_NO_MEM, "no memory for the types of %d neighbours", in + out);
    if (!rc)
        rc = check_blocks(hood, sendcounts, sdispls, recvcounts, rdispls);
    if (!rc)
        rc = flatten(hood, sendtypes, neighbors->destinations, out, "sendtypes", hood->flat, form);
    if (!rc)
        rc = flatten(hood, recvtypes, neighbors->sources, in, "recvtypes", hood->flat + out, form);
    tern_call_neighbor_alltoallw(&call, &comm->coll, neighbors, sendbuf, sendcounts,
                                 (struct tern_ints){sdispls, sizeof *sdispls}, hood->flat, recvbuf,
                                 recvcounts, (struct tern_ints){rdispls, sizeof *rdispls},
                                 hood->flat + out);
    return proceed(&call, hood, comm, form, ret_request, rc);
}
