/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Neighbourhood collectives over simulated messages: rings (periodic or not, where both neighbours
 * may be the same process), sparse and dense graphs with parallel edges, more neighbours than fit
 * in the window.
 */
#include "lib/type/layout.h"
#include "plan_check.h"
#include "sim_pml.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum shape { RING, OPEN_RING, SPARSE, DENSE, SHAPES };

enum { NOBODY = -2 };

struct graph {
    enum shape shape;
    int n;
};

static int outdegree(const struct graph *graph)
{
    return graph->shape <= OPEN_RING ? 2 : graph->shape == SPARSE ? 3 : graph->n + graph->n / 4;
}

/* Rank at the end of p's edge k. */
static int destination(const struct graph *graph, int p, int k)
{
    int n = graph->n;
    if (graph->shape > OPEN_RING)
        return (p * 7 + k * 5 + k * k / 3) % n;
    int q = k ? p + 1 : p - 1;
    if (graph->shape == OPEN_RING && (q < 0 || q == n))
        return NOBODY;
    return (q + n) % n;
}

struct edge {
    int source, k; /* source's edge k */
};

/* The edges that end at q, in the order of q's list of sources. */
static int incoming(const struct graph *graph, int q, struct edge *edges)
{
    int count = 0;
    if (graph->shape <= OPEN_RING) { /* what comes from below was sent upwards */
        int below = destination(graph, q, 0), above = destination(graph, q, 1);
        edges[0] = (struct edge){below, 1};
        edges[1] = (struct edge){above, 0};
        return 2;
    }
    for (int i = 0; i < graph->n; i++) {
        int p = (q + graph->n - i) % graph->n;
        for (int k = 0; k < outdegree(graph); k++)
            if (destination(graph, p, k) == q)
                edges[count++] = (struct edge){p, k};
    }
    return count;
}

/* Elements on each edge from p to q: parallel edges have the same. */
static int64_t length(enum tern_collective collective, int64_t count, int p, int q)
{
    if (collective == TERN_NEIGHBOR_ALLGATHERV)
        return (count * (p + 1)) % (count + 2);
    if (collective == TERN_NEIGHBOR_ALLTOALLV || collective == TERN_NEIGHBOR_ALLTOALLW)
        return (count * (p + 2 * q + 1)) % (2 * count + 1);
    return count;
}

struct side { /* one process */
    struct tern_neighbors neighbors;
    struct edge *edges;
    int *sources, *destinations;
    int32_t *counts[2], *displs[2];
    const struct tern_type **types;
    char *send, *recv;
};

/* Blocks backwards, with a space between. Displacements in `unit`s. */
static int64_t displace(const int32_t *counts, int32_t *displs, int blocks, int64_t unit)
{
    int64_t at = 0;
    for (int b = blocks - 1; b >= 0; b--) {
        displs[b] = (int32_t)(at * unit);
        at += counts[b] + 1;
    }
    return at;
}

static bool for_all(enum tern_collective collective)
{
    return collective == TERN_NEIGHBOR_ALLGATHER || collective == TERN_NEIGHBOR_ALLGATHERV;
}

static bool equal_blocks(enum tern_collective collective)
{
    return collective == TERN_NEIGHBOR_ALLGATHER || collective == TERN_NEIGHBOR_ALLTOALL;
}

static void make_arrays(struct side *side, const struct graph *graph, int p)
{
    int out = outdegree(graph);
    side->edges = calloc((size_t)(graph->n * out + 2), sizeof *side->edges);
    int in = incoming(graph, p, side->edges), most = in > out ? in : out;
    side->sources = calloc((size_t)most + 1, sizeof(int));
    side->destinations = calloc((size_t)most + 1, sizeof(int));
    side->types = calloc((size_t)most + 1, sizeof *side->types);
    for (int i = 0; i < 2; i++) {
        side->counts[i] = calloc((size_t)most + 1, sizeof(int32_t));
        side->displs[i] = calloc((size_t)most + 1, sizeof(int32_t));
    }
    for (int i = 0; i < in; i++)
        side->sources[i] = side->edges[i].source;
    for (int k = 0; k < out; k++)
        side->destinations[k] = destination(graph, p, k);
    side->neighbors = (struct tern_neighbors){side->sources, side->destinations, in, out,
                                              graph->shape <= OPEN_RING};
}

static void free_side(struct side *side)
{
    free(side->edges);
    free(side->sources);
    free(side->destinations);
    free(side->types);
    for (int i = 0; i < 2; i++) {
        free(side->counts[i]);
        free(side->displs[i]);
    }
    free(side->send);
    free(side->recv);
}

static void fill(struct side *side, enum tern_collective collective, int p, int64_t count,
                 const struct tern_type *type)
{
    int in = side->neighbors.indegree, out = side->neighbors.outdegree;
    int64_t unit = collective == TERN_NEIGHBOR_ALLTOALLW ? type->extent : 1;
    for (int i = 0; i < in; i++)
        side->counts[1][i] =
            side->sources[i] < 0 ? 1 : (int32_t)length(collective, count, side->sources[i], p);
    for (int k = 0; k < out; k++)
        side->counts[0][k] = side->destinations[k] < 0
                                 ? 1
                                 : (int32_t)length(collective, count, p, side->destinations[k]);
    side->recv = new_elements(type, displace(side->counts[1], side->displs[1], in, unit));
    side->send = new_elements(type, displace(side->counts[0], side->displs[0], out, unit) + count);
    for (int i = 0; i < in || i < out; i++)
        side->types[i] = type;
    if (equal_blocks(collective))
        for (int i = 0; i < in || i < out; i++) {
            if (i < in)
                side->displs[1][i] = (int32_t)(i * count);
            if (i < out)
                side->displs[0][i] = (int32_t)(i * count);
        }
    if (for_all(collective))
        for (int64_t i = 0; i < length(collective, count, p, 0); i++)
            put(side->send, type, i, value(p, 0, i));
    else
        for (int k = 0; k < out; k++)
            for (int64_t i = 0; i < side->counts[0][k]; i++)
                put(side->send, type, side->displs[0][k] / unit + i, value(p, k, i));
}

static void set_call(struct tern_call *call, struct tern_coll *coll, struct side *side,
                     enum tern_collective collective, int p, int64_t count,
                     const struct tern_type *type)
{
    const struct tern_neighbors *hood = &side->neighbors;
    struct tern_ints send_counts = {side->counts[0], 4}, send_displs = {side->displs[0], 4};
    struct tern_ints recv_counts = {side->counts[1], 4}, recv_displs = {side->displs[1], 4};
    int64_t own = length(collective, count, p, 0);
    if (collective == TERN_NEIGHBOR_ALLGATHER)
        tern_call_neighbor_allgather(call, coll, hood, side->send, count, type, side->recv, count,
                                     type);
    else if (collective == TERN_NEIGHBOR_ALLGATHERV)
        tern_call_neighbor_allgatherv(call, coll, hood, side->send, own, type, side->recv,
                                      recv_counts, recv_displs, type);
    else if (collective == TERN_NEIGHBOR_ALLTOALL)
        tern_call_neighbor_alltoall(call, coll, hood, side->send, count, type, side->recv, count,
                                    type);
    else if (collective == TERN_NEIGHBOR_ALLTOALLV)
        tern_call_neighbor_alltoallv(call, coll, hood, side->send, send_counts, send_displs, type,
                                     side->recv, recv_counts, recv_displs, type);
    else
        tern_call_neighbor_alltoallw(call, coll, hood, side->send, send_counts, send_displs,
                                     side->types, side->recv, recv_counts, recv_displs,
                                     side->types);
}

static bool right(const struct side *side, enum tern_collective collective,
                  const struct tern_type *type)
{
    int64_t unit = collective == TERN_NEIGHBOR_ALLTOALLW ? type->extent : 1;
    for (int i = 0; i < side->neighbors.indegree; i++) {
        struct edge edge = side->edges[i];
        for (int64_t e = 0; edge.source >= 0 && e < side->counts[1][i]; e++)
            if (!is(side->recv, type, side->displs[1][i] / unit + e,
                    value(edge.source, for_all(collective) ? 0 : edge.k, e)))
                return false;
    }
    return true;
}

static void run_graph(enum tern_collective collective, struct graph graph, int64_t count,
                      const struct tern_type *type, enum sim_way way)
{
    struct sim *sim = sim_new(graph.n, 0);
    struct tern_call *calls = calloc((size_t)graph.n, sizeof *calls);
    struct side *sides = calloc((size_t)graph.n, sizeof *sides);
    for (int p = 0; p < graph.n; p++) {
        make_arrays(&sides[p], &graph, p);
        fill(&sides[p], collective, p, count, type);
        set_call(&calls[p], &sim->colls[p], &sides[p], collective, p, count, type);
    }
    const char *fault = NULL;
    for (int p = 0; p < graph.n && !fault; p++) {
        struct tern_plan *plan = tern_plan_build(
            tern_plan_choose(&calls[p].args, &(struct tern_model){0}), &calls[p].args);
        fault = plan_read(plan);
        tern_plan_release(plan);
    }
    if (!fault)
        fault = sim_run(sim, calls, way, -1);
    for (int p = 0; p < graph.n && !fault; p++)
        if (!right(&sides[p], collective, type))
            fault = "a wrong result";
    ck_assert_msg(!fault, "%s: %s (size %d, shape %d, count %ld)",
                  tern_plan_collective_name(collective), fault, graph.n, graph.shape, (long)count);
    for (int p = 0; p < graph.n; p++)
        free_side(&sides[p]);
    free(sides);
    free(calls);
    sim_free(sim);
}

START_TEST(blocks_arrive_where_the_edge_ends)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 8, 13, 40, 64};
    enum tern_collective collective = (enum tern_collective)_i;
    make_gappy_type();
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int64_t count = 0; count < 4; count += count + 1)
                for (int way = SIM_POLLED; way <= SIM_BLOCKING; way++)
                    run_graph(collective, (struct graph){(enum shape)shape, sizes[s]}, count,
                              (count + way) % 2 ? &gappy_type : &u64_type, (enum sim_way)way);
    tern_type_drop(&gappy_type);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("neighbor_plan");
    TCase *tcase = suite_case(suite, "neighbourhoods");
    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, blocks_arrive_where_the_edge_ends, TERN_NEIGHBOR_ALLGATHER,
                        TERN_NEIGHBOR_ALLTOALLW + 1);
    return suite_run(suite);
}
