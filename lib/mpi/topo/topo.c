/* SPDX-License-Identifier: BSD-3-Clause */

/* What all topologies have in common: kind, communicator, neighbours. */

#include "lib/mpi/topo/topo.h"

#include "lib/mpi/object/comm.h"
#include "lib/mpi/procedures.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

static const char *const kind_names[] = {
    [TERN_TOPO_CART] = "Cartesian",
    [TERN_TOPO_GRAPH] = "graph",
    [TERN_TOPO_DIST_GRAPH] = "distributed graph",
};

int tern_topo_get(const struct tern_comm *comm, enum tern_topo_kind kind,
                  const struct tern_topo **ret_topo)
{
    if (!comm->topo)
        return tern_error(TERN_ERR_TOPOLOGY, "comm has no topology; expected a %s topology",
                          kind_names[kind]);
    if (comm->topo->kind != kind)
        return tern_error(TERN_ERR_TOPOLOGY, "comm has a %s topology; expected a %s topology",
                          kind_names[comm->topo->kind], kind_names[kind]);
    *ret_topo = comm->topo;
    return 0;
}

int tern_topo_check_intra(const struct tern_comm *comm)
{
    if (tern_comm_inter(comm))
        return tern_error(TERN_ERR_COMM,
                          "comm is an intercommunicator; topologies need an intracommunicator");
    return 0;
}

int tern_topo_make_over(struct tern_comm *comm, struct tern_group *group, struct tern_topo *topo,
                        struct tern_comm **ret_comm)
{
    struct tern_comm *made;
    int rc = tern_comm_make(comm, group, &made);
    if (rc || !made) {
        if (topo)
            tern_topo_release(topo);
    } else {
        made->topo = topo;
    }
    if (!rc)
        *ret_comm = made;
    return rc;
}

/* Makes the group of the new communicator. Takes the group of `comm` if the two are equal, so that
 * peers are shared. */
static int group_of_places(struct tern_comm *comm, int places, const int process[],
                           struct tern_group **ret_group)
{
    if (process)
        return tern_group_select(comm->group, places, process, ret_group);
    if (places == comm->group->size) {
        *ret_group = comm->group;
        tern_group_retain(comm->group);
        return 0;
    }
    struct tern_group_builder builder;
    tern_group_builder_init(&builder);
    for (int rank = 0; rank < places; rank++)
        tern_group_builder_add(&builder, tern_group_process(comm->group, rank));
    return tern_group_builder_finish(&builder, ret_group);
}

int tern_topo_make(struct tern_comm *comm, int places, const int process[], struct tern_topo *topo,
                   struct tern_comm **ret_comm)
{
    struct tern_group *group = NULL;
    int rc = topo ? group_of_places(comm, places, process, &group) : 0;
    if (rc) {
        tern_topo_release(topo);
        return rc;
    }
    rc = tern_topo_make_over(comm, group, topo, ret_comm);
    if (group)
        tern_group_release(group);
    return rc;
}

int tern_mpi_topo_test(struct tern_comm *comm, int *status)
{
    static const int numbers[] = {
        [TERN_TOPO_CART] = MPI_CART,
        [TERN_TOPO_GRAPH] = MPI_GRAPH,
        [TERN_TOPO_DIST_GRAPH] = MPI_DIST_GRAPH,
    };
    *status = comm->topo ? numbers[comm->topo->kind] : MPI_UNDEFINED;
    return 0;
}

int tern_topo_neighbors(const struct tern_comm *comm, struct tern_neighbors *ret_neighbors)
{
    const struct tern_topo *topo = comm->topo;
    if (!topo)
        return tern_error(TERN_ERR_TOPOLOGY,
                          "comm has no topology; neighbourhood collectives need one");
    switch (topo->kind) {
    case TERN_TOPO_CART: {
        int degree = 2 * topo->cart.ndims;
        *ret_neighbors = (struct tern_neighbors){topo->cart.neighbors, topo->cart.neighbors, degree,
                                                 degree, true};
        break;
    }
    case TERN_TOPO_GRAPH: {
        int rank = comm->group->rank, first = rank ? topo->graph.index[rank - 1] : 0;
        int degree = topo->graph.index[rank] - first;
        const int *edges = topo->graph.edges + first;
        *ret_neighbors = (struct tern_neighbors){edges, edges, degree, degree, false};
        break;
    }
    case TERN_TOPO_DIST_GRAPH:
        *ret_neighbors =
            (struct tern_neighbors){topo->dist_graph.sources, topo->dist_graph.destinations,
                                    topo->dist_graph.indegree, topo->dist_graph.outdegree, false};
        break;
    }
    return 0;
}
