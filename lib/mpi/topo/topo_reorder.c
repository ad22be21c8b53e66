/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collects the places of processes for a new order. When a communicator is made, each process reads
 * its own place from the kernel's files and sends it to rank 0. So the order does not depend on who
 * started and who bound the processes. MPI_Cart_map and MPI_Graph_map are local: there every
 * process uses what the launcher told about all processes.
 */

#include "lib/mpi/topo/topo_reorder.h"

#include "lib/mpi/object/comm.h"
#include "lib/rte/hardware.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <stdlib.h>
#include <string.h>

static const enum tern_hw_kind kinds[TERN_PLACE_LEVELS] = {
    [TERN_PLACE_PACKAGE] = TERN_HW_PACKAGE, [TERN_PLACE_NUMA] = TERN_HW_NUMA,
    [TERN_PLACE_L3] = TERN_HW_L3,           [TERN_PLACE_L2] = TERN_HW_L2,
    [TERN_PLACE_CORE] = TERN_HW_CORE,
};

static struct tern_place own_place(void)
{
    int32_t part[TERN_HW_KINDS];
    bool exists[TERN_HW_KINDS];
    struct tern_place place;
    tern_rte_hw_places("", part, exists);
    place.part[TERN_PLACE_NODE] = (int32_t)tern_rte.local_ranks[0]; /* the first rank of the node */
    for (int level = TERN_PLACE_PACKAGE; level < TERN_PLACE_LEVELS; level++)
        place.part[level] = exists[kinds[level]] ? part[kinds[level]] : 0;
    return place;
}

/* What rank 0 has received; empty on other ranks. */
struct reports {
    struct report {
        struct tern_place place;
        int64_t edges; /* number of edges that the process will send */
    } * of;            /* by rank */
    struct tern_place *places;
    int64_t *bytes, *at; /* bytes and offset of the edges from each rank */
    int64_t edges;       /* number of edges of all ranks */
};

static void free_reports(struct reports *reports)
{
    free(reports->of);
    free(reports->places);
    free(reports->bytes);
}

static int collect_reports(struct tern_comm *comm, int64_t own_edges, struct reports *ret_reports)
{
    size_t size = (size_t)comm->group->size;
    struct report mine = {own_place(), own_edges};
    struct reports reports = {0};
    struct tern_call call;
    if (comm->group->rank == 0) {
        reports.of = malloc(size * sizeof *reports.of);
        reports.places = malloc(size * sizeof *reports.places);
        reports.bytes = malloc(2 * size * sizeof *reports.bytes);
        if (!reports.of || !reports.places || !reports.bytes) {
            free_reports(&reports);
            return tern_error(TERN_ERR_NO_MEM, "no memory to reorder %zu processes", size);
        }
        reports.at = reports.bytes + size;
    }
    tern_call_gather(&call, &comm->coll, &mine, sizeof mine, &tern_type_bytes, reports.of,
                     sizeof mine, &tern_type_bytes, 0);
    tern_call_set_inside(&call);
    int rc = tern_call_run(&call);
    if (rc) {
        free_reports(&reports);
        return rc;
    }
    for (size_t i = 0; reports.of && i < size; i++) {
        reports.places[i] = reports.of[i].place;
        reports.at[i] = reports.edges * (int64_t)sizeof(struct tern_map_edge);
        reports.bytes[i] = reports.of[i].edges * (int64_t)sizeof(struct tern_map_edge);
        reports.edges += reports.of[i].edges;
    }
    *ret_reports = reports;
    return 0;
}

/* Broadcasts rank 0's *yes. A rank that has failed before takes part for the others' sake. */
static int tell(struct tern_comm *comm, int failed, bool *yes)
{
    int32_t word = *yes;
    int rc = failed ? tern_comm_bcast_failure(comm, sizeof word, 0, failed)
                    : tern_comm_bcast_bytes(comm, &word, sizeof word, 0);
    *yes = word;
    return rc;
}

/* Broadcasts rank 0's order. `mapped` is true on rank 0 if there is one. Takes ownership of
 * `process`. */
static int announce(struct tern_comm *comm, int failed, bool mapped, int *process,
                    int **ret_process)
{
    int size = comm->group->size;
    bool changed = false;
    for (int v = 0; mapped && v < size; v++)
        changed |= process[v] != v;
    int rc = tell(comm, failed, &changed);
    if (!rc && changed)
        rc = tern_comm_bcast_bytes(comm, process, size * (int64_t)sizeof *process, 0);
    if (rc || !changed) {
        free(process);
        process = NULL;
    }
    *ret_process = process;
    return rc;
}

static bool allowed(const struct tern_comm *comm)
{
    return comm->group->size > 2 && tern_param_bool("topo_reorder");
}

static int *new_order(const struct tern_comm *comm)
{
    int *process = malloc((size_t)comm->group->size * sizeof *process);
    if (!process)
        tern_error(TERN_ERR_NO_MEM, "no memory to reorder %d processes", comm->group->size);
    return process;
}

int tern_topo_reorder_grid(struct tern_comm *comm, int ndims, const int dims[], const int periods[],
                           int **ret_process)
{
    struct reports reports = {0};
    *ret_process = NULL;
    if (!allowed(comm))
        return 0;
    int *process = new_order(comm);
    int rc = process ? collect_reports(comm, 0, &reports) : TERN_ERR_NO_MEM;
    bool mapped =
        !rc && comm->group->rank == 0 &&
        tern_map_grid(comm->group->size, ndims, dims, periods, reports.places, process) == 0;
    free_reports(&reports);
    return announce(comm, rc, mapped, process, ret_process);
}

/* Gathers all edges on rank 0, in the order of ranks. */
static int collect_edges(struct tern_comm *comm, const struct tern_map_edge *edges, int64_t count,
                         const struct reports *reports, struct tern_map_edge **ret_edges)
{
    struct tern_map_edge *all = NULL;
    struct tern_call call;
    if (comm->group->rank == 0) {
        all = malloc(((size_t)reports->edges + 1) * sizeof *all);
        if (!all)
            return tern_error(TERN_ERR_NO_MEM, "no memory for a graph of %lld edges",
                              (long long)reports->edges);
    }
    tern_call_gatherv(&call, &comm->coll, edges, count * (int64_t)sizeof *edges, &tern_type_bytes,
                      all, (struct tern_ints){reports->bytes, 8},
                      (struct tern_ints){reports->at, 8}, &tern_type_bytes, 0);
    tern_call_set_inside(&call);
    int rc = tern_call_run(&call);
    if (rc) {
        free(all);
        return rc;
    }
    *ret_edges = all;
    return 0;
}

static bool map_edges(int size, const struct tern_map_edge *edges, const struct reports *reports,
                      int process[])
{
    struct tern_map_graph graph;
    if (tern_map_graph_make(size, edges, reports->edges, &graph) != 0)
        return false;
    int rc = tern_map_vertices(&graph, reports->places, process);
    tern_map_graph_free(&graph);
    return rc == 0;
}

int tern_topo_reorder_graph(struct tern_comm *comm, const struct tern_map_edge *edges,
                            int64_t count, int **ret_process)
{
    struct reports reports = {0};
    struct tern_map_edge *all = NULL;
    int size = comm->group->size;
    *ret_process = NULL;
    if (!allowed(comm))
        return 0;
    int *process = new_order(comm);
    int rc = process ? collect_reports(comm, count, &reports) : TERN_ERR_NO_MEM;
    bool useful = !rc && comm->group->rank == 0 && reports.edges <= TERN_MAP_SIZE_MAX / 2 &&
                  !tern_places_are_flat(size, reports.places);
    rc = tell(comm, rc, &useful);
    if (rc || !useful) {
        free_reports(&reports);
        free(process);
        return rc;
    }
    rc = collect_edges(comm, edges, count, &reports, &all);
    bool mapped = !rc && comm->group->rank == 0 && map_edges(size, all, &reports, process);
    free(all);
    free_reports(&reports);
    return announce(comm, rc, mapped, process, ret_process);
}

int tern_topo_vertex_of(int size, const int process[], int rank)
{
    int vertex = rank;
    for (int v = 0; process && v < size; v++)
        if (process[v] == rank)
            vertex = v;
    return vertex;
}

/* ---- without communication ---- */

/* The places of the ranks of this job, as far as the launcher told; asked once. */
static struct tern_place *launch_places;

/* Asks the launcher for the places. Uses parts of nodes only if the parts of all ranks are
 * known. */
static bool ask_launcher(void)
{
    bool parts_known = true;
    if (launch_places)
        return true;
    struct tern_place *places = malloc((size_t)tern_rte.size * sizeof *places);
    if (!places)
        return false;
    for (uint32_t rank = 0; rank < tern_rte.size; rank++) {
        int32_t part[TERN_HW_KINDS];
        uint32_t node;
        if (!tern_rte_hw_launch_place(rank, &node, part)) {
            free(places);
            return false;
        }
        places[rank].part[TERN_PLACE_NODE] = (int32_t)node;
        for (int level = TERN_PLACE_PACKAGE; level < TERN_PLACE_LEVELS; level++)
            places[rank].part[level] = part[kinds[level]];
        parts_known = parts_known && part[TERN_HW_MACHINE] != TERN_HW_NOT_BOUND;
    }
    for (uint32_t rank = 0; !parts_known && rank < tern_rte.size; rank++)
        places[rank].part[TERN_PLACE_PACKAGE] = TERN_HW_NOT_BOUND;
    launch_places = places;
    return true;
}

/* Returns the places of comm's processes, malloc'ed. Returns NULL if they are not known, or if no
 * order is better than another. */
static struct tern_place *known_places(const struct tern_comm *comm)
{
    int size = comm->group->size;
    if (!allowed(comm) || !ask_launcher())
        return NULL;
    struct tern_place *places = malloc((size_t)size * sizeof *places);
    for (int i = 0; places && i < size; i++) {
        struct tern_process process = tern_group_process(comm->group, i);
        if (process.job != 0 || process.rank >= tern_rte.size) { /* of another job */
            free(places);
            return NULL;
        }
        places[i] = launch_places[process.rank];
    }
    if (places && tern_places_are_flat(size, places)) {
        free(places);
        return NULL;
    }
    return places;
}

int tern_topo_map_grid(struct tern_comm *comm, int ndims, const int dims[], const int periods[],
                       int *ret_vertex)
{
    struct tern_place *places = known_places(comm);
    int *process = places ? new_order(comm) : NULL;
    int rc = process ? tern_map_grid(comm->group->size, ndims, dims, periods, places, process) : 0;
    if (!rc)
        *ret_vertex = tern_topo_vertex_of(comm->group->size, process, comm->group->rank);
    free(process);
    free(places);
    return rc;
}

int tern_topo_map_graph(struct tern_comm *comm, const struct tern_map_edge *edges, int64_t count,
                        int *ret_vertex)
{
    struct tern_place *places = known_places(comm);
    int *process = places ? new_order(comm) : NULL;
    struct tern_map_graph graph;
    int rc = process ? tern_map_graph_make(comm->group->size, edges, count, &graph) : 0;
    if (process && !rc) {
        rc = tern_map_vertices(&graph, places, process);
        tern_map_graph_free(&graph);
    }
    if (!rc)
        *ret_vertex = tern_topo_vertex_of(comm->group->size, process, comm->group->rank);
    free(process);
    free(places);
    return rc;
}
