/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Mapping graphs onto hardware: costs on made-up machines, against all permutations where there are
 * few, against known answers, and never worse than the given order.
 */

#include "lib/mpi/topo/topo_map.h"
#include "suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_MAX = 4096 };

/* A machine: so many of each inside the wider one. Levels that are missing have 1. */
struct machine {
    const char *what;
    int nodes, packages, l3, cores;
    enum { BOUND, BY_NODE, SHUFFLED, TO_PACKAGES, UNBOUND } how;
};

static struct tern_place places[N_MAX];

static uint64_t random_state;

static int random_below(int limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((random_state >> 33) % (uint64_t)limit);
}

static int make_places(const struct machine *m)
{
    int per_node = m->packages * m->l3 * m->cores, n = m->nodes * per_node;
    ck_assert_int_le(n, N_MAX);
    random_state = 7;
    for (int i = 0; i < n; i++) {
        int at = m->how == BY_NODE ? i % m->nodes * per_node + i / m->nodes : i;
        places[i] =
            (struct tern_place){{at / per_node, at / (m->l3 * m->cores), 0, at / m->cores, 0, at}};
        if (m->how == TO_PACKAGES || m->how == UNBOUND)
            for (int level = TERN_PLACE_NUMA; level < TERN_PLACE_LEVELS; level++)
                places[i].part[level] = -1;
        if (m->how == UNBOUND)
            places[i].part[TERN_PLACE_PACKAGE] = -1;
    }
    for (int i = n - 1; m->how == SHUFFLED && i > 0; i--) {
        int j = random_below(i + 1);
        struct tern_place place = places[i];
        places[i] = places[j];
        places[j] = place;
    }
    return n;
}

static const struct machine machines[] = {
    {"one node, unbound", 1, 2, 2, 4, UNBOUND},
    {"four nodes, unbound, rank by rank", 4, 2, 1, 4, UNBOUND},
    {"two packages of eight cores", 1, 2, 1, 8, BOUND},
    {"two packages, bound to packages only", 2, 2, 1, 8, TO_PACKAGES},
    {"four nodes, rank by rank", 4, 2, 2, 4, BOUND},
    {"four nodes, dealt out node by node", 4, 2, 2, 4, BY_NODE},
    {"three nodes of twelve", 3, 2, 2, 3, BY_NODE},
    {"shuffled", 8, 2, 2, 4, SHUFFLED},
    {"one process per node", 36, 1, 1, 1, BOUND},
};
enum { MACHINES = sizeof machines / sizeof *machines };

static void check_permutation(int n, const int process[])
{
    char seen[N_MAX] = {0};
    for (int v = 0; v < n; v++) {
        ck_assert(process[v] >= 0 && process[v] < n);
        ck_assert_msg(!seen[process[v]], "process %d twice", process[v]);
        seen[process[v]] = 1;
    }
}

static int64_t cost_of_order(const struct tern_map_graph *graph)
{
    int identity[N_MAX];
    for (int v = 0; v < graph->n; v++)
        identity[v] = v;
    return tern_map_cost(graph, places, identity);
}

/* A permutation, cheaper than the given order or equal to it. Returns its cost. */
static int64_t check_mapping(const struct tern_map_graph *graph, const int process[])
{
    int64_t before = cost_of_order(graph), after = tern_map_cost(graph, places, process);
    check_permutation(graph->n, process);
    ck_assert_int_le(after, before);
    if (after == before)
        for (int v = 0; v < graph->n; v++)
            ck_assert_int_eq(process[v], v);
    return after;
}

static struct tern_map_graph random_graph(int n, int edges)
{
    struct tern_map_graph graph;
    struct tern_map_edge *list = malloc((size_t)edges * sizeof *list);
    for (int e = 0; e < edges; e++)
        list[e] = (struct tern_map_edge){random_below(n), random_below(n), random_below(100)};
    ck_assert_int_eq(tern_map_graph_make(n, list, edges, &graph), 0);
    free(list);
    return graph;
}

START_TEST(never_worse_than_the_given_order)
{
    const struct machine *m = &machines[_i];
    int n = make_places(m), process[N_MAX];
    for (int trial = 0; trial < 30; trial++) {
        random_state = (uint64_t)trial;
        struct tern_map_graph graph = random_graph(n, trial * n / 6);
        ck_assert_int_eq(tern_map_vertices(&graph, places, process), 0);
        check_mapping(&graph, process);
        tern_map_graph_free(&graph);
    }
}
END_TEST

START_TEST(equal_arguments_give_equal_results)
{
    int n = make_places(&machines[_i]), first[N_MAX], again[N_MAX];
    random_state = 99;
    struct tern_map_graph graph = random_graph(n, 3 * n);
    ck_assert_int_eq(tern_map_vertices(&graph, places, first), 0);
    memset(again, 0xee, sizeof again);
    ck_assert_int_eq(tern_map_vertices(&graph, places, again), 0);
    ck_assert_mem_eq(first, again, (size_t)n * sizeof *first);
    tern_map_graph_free(&graph);
}
END_TEST

static int64_t least_cost(const struct tern_map_graph *graph, int process[], int fixed)
{
    if (fixed == graph->n)
        return tern_map_cost(graph, places, process);
    int64_t least = INT64_MAX;
    for (int i = fixed; i < graph->n; i++) {
        int swap = process[fixed];
        process[fixed] = process[i];
        process[i] = swap;
        int64_t cost = least_cost(graph, process, fixed + 1);
        least = cost < least ? cost : least;
        process[i] = process[fixed];
        process[fixed] = swap;
    }
    return least;
}

/* Heuristics may miss the optimum; on eight processes they rarely do, and never by much. */
START_TEST(close_to_the_best_of_all_orders)
{
    static const struct machine small[] = {{"2 nodes of 4", 2, 2, 1, 2, BY_NODE},
                                           {"4 nodes of 2", 4, 1, 1, 2, SHUFFLED}};
    int process[N_MAX], trials = 0, hits = 0;
    for (size_t m = 0; m < 2; m++) {
        int n = make_places(&small[m]);
        for (int trial = 0; trial < 10; trial++, trials++) {
            random_state = (uint64_t)trial + 1000;
            struct tern_map_graph graph = random_graph(n, 14);
            ck_assert_int_eq(tern_map_vertices(&graph, places, process), 0);
            int64_t cost = check_mapping(&graph, process), least;
            for (int v = 0; v < n; v++)
                process[v] = v;
            least = least_cost(&graph, process, 0);
            ck_assert_int_le(10 * cost, 11 * least);
            hits += cost == least;
            tern_map_graph_free(&graph);
        }
    }
    ck_assert_int_ge(10 * hits, 8 * trials);
}
END_TEST

/* Groups that speak only among themselves, scattered over all ranks, one group per package. */
START_TEST(groups_of_friends_come_together)
{
    const struct machine m = {"", 4, 2, 1, 4, SHUFFLED};
    int n = make_places(&m), process[N_MAX], groups = 8, count = 0;
    struct tern_map_edge edges[256];
    struct tern_map_graph graph;
    for (int v = 0; v < n; v++)
        for (int u = v + groups; u < n; u += groups)
            edges[count++] = (struct tern_map_edge){v, u, 5};
    ck_assert_int_eq(tern_map_graph_make(n, edges, count, &graph), 0);
    ck_assert_int_eq(tern_map_vertices(&graph, places, process), 0);
    check_mapping(&graph, process);
    for (int v = 0; v < n; v++)
        ck_assert_int_eq(places[process[v]].part[TERN_PLACE_PACKAGE],
                         places[process[v % groups]].part[TERN_PLACE_PACKAGE]);
    tern_map_graph_free(&graph);
}
END_TEST

/* Heavy edges win over light ones. */
START_TEST(weights_count)
{
    const struct machine m = {"", 2, 1, 1, 2, BOUND};
    int n = make_places(&m), process[N_MAX];
    const struct tern_map_edge edges[] = {{0, 1, 1}, {2, 3, 1}, {0, 2, 9}, {3, 1, 8}, {0, 0, 99}};
    struct tern_map_graph graph;
    ck_assert_int_eq(tern_map_graph_make(n, edges, 5, &graph), 0);
    ck_assert_int_eq(tern_map_vertices(&graph, places, process), 0);
    check_mapping(&graph, process);
    ck_assert_int_eq(places[process[0]].part[0], places[process[2]].part[0]);
    ck_assert_int_eq(places[process[1]].part[0], places[process[3]].part[0]);
    tern_map_graph_free(&graph);
}
END_TEST

/* Edges between parts of a level. */
static int edges_between(const struct tern_map_graph *graph, const int process[], int level)
{
    int count = 0;
    for (int v = 0; v < graph->n; v++)
        for (int64_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            const struct tern_place *a = &places[process[v]], *b = &places[process[graph->to[e]]];
            count += a->part[level] != b->part[level];
        }
    return count / 2;
}

struct grid {
    struct machine machine;
    int ndims, dims[4], periods[4];
    int node_edges, package_edges; /* at most so many between nodes, packages; the best there is */
};

static const struct grid grids[] = {
    /* 4x4 blocks: 2 lines of 8 edges */
    {{"8 x 8 on 4 nodes", 4, 2, 2, 4, BOUND}, 2, {8, 8}, {0, 0}, 16, 16 + 16},
    {{"8 x 8 dealt out", 4, 2, 2, 4, BY_NODE}, 2, {8, 8}, {0, 0}, 16, 16 + 16},
    {{"8 x 8 torus", 4, 2, 2, 4, SHUFFLED}, 2, {8, 8}, {1, 1}, 32, 32 + 16},
    {{"4 x 4 x 4 on 8 nodes", 8, 1, 2, 4, BOUND}, 3, {4, 4, 4}, {0, 0, 0}, 48, 48},
    {{"16 x 2 on 4 nodes", 4, 2, 1, 4, BY_NODE}, 2, {16, 2}, {0, 0}, 6, 6 + 8},
    {{"ring dealt out", 4, 2, 1, 4, BY_NODE}, 1, {32}, {1}, 4, 8},
    {{"6 x 6 on 4 nodes of 9", 4, 1, 1, 9, BOUND}, 2, {6, 6}, {0, 0}, 12, 12},
    {{"6 x 6 on 3 nodes of 12", 3, 1, 1, 12, SHUFFLED}, 2, {6, 6}, {0, 0}, 12, 12},
    {{"blocks do not fit: 5 x 7 of 36", 4, 1, 1, 9, BY_NODE}, 2, {5, 7}, {0, 0}, 15, 15},
    {{"flat", 36, 1, 1, 1, BOUND}, 2, {6, 6}, {0, 0}, 60, 60},
};

START_TEST(grids_are_cut_into_blocks)
{
    const struct grid *grid = &grids[_i];
    int n = make_places(&grid->machine), process[N_MAX];
    struct tern_map_graph graph;
    ck_assert_int_eq(tern_map_graph_of_grid(n, grid->ndims, grid->dims, grid->periods, &graph), 0);
    ck_assert_int_eq(tern_map_grid(n, grid->ndims, grid->dims, grid->periods, places, process), 0);
    check_mapping(&graph, process);
    int nodes = edges_between(&graph, process, TERN_PLACE_NODE);
    int packages = edges_between(&graph, process, TERN_PLACE_PACKAGE);
    ck_assert_msg(nodes <= grid->node_edges && packages <= grid->package_edges,
                  "%s: %d edges between nodes (at most %d), %d between packages (at most %d)",
                  grid->machine.what, nodes, grid->node_edges, packages, grid->package_edges);
    tern_map_graph_free(&graph);
}
END_TEST

START_TEST(grids_are_never_worse_than_the_given_order)
{
    int n = make_places(&machines[_i]), process[N_MAX];
    for (int a = 1; a <= n; a++)
        for (int b = 1; a * b <= n; b++) {
            int dims[] = {a, b, n / (a * b)}, periods[] = {a % 2, b % 3 == 0, 1};
            struct tern_map_graph graph;
            ck_assert_int_eq(tern_map_graph_of_grid(n, 3, dims, periods, &graph), 0);
            ck_assert_int_eq(tern_map_grid(n, 3, dims, periods, places, process), 0);
            check_mapping(&graph, process);
            tern_map_graph_free(&graph);
        }
}
END_TEST

/* A grid's edges are those of its shifts by one. */
START_TEST(edges_of_a_grid)
{
    static const struct {
        int dims[2], periods[2], edges;
    } cases[] = {{{3, 4}, {0, 0}, 8 + 9}, {{3, 4}, {1, 1}, 12 + 12}, {{1, 4}, {1, 1}, 4},
                 {{2, 2}, {1, 1}, 4 + 4}, {{2, 2}, {0, 0}, 2 + 2},   {{1, 1}, {1, 1}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tern_map_graph graph;
        ck_assert_int_eq(tern_map_graph_of_grid(20, 2, cases[i].dims, cases[i].periods, &graph), 0);
        ck_assert_int_eq(graph.first[20], 2 * cases[i].edges);
        for (int v = 0; v < 20; v++)
            for (int64_t e = graph.first[v]; e < graph.first[v + 1]; e++) {
                int row = abs(v / cases[i].dims[1] - graph.to[e] / cases[i].dims[1]);
                int column = abs(v % cases[i].dims[1] - graph.to[e] % cases[i].dims[1]);
                ck_assert(row == 0 || column == 0);
                ck_assert(row + column == 1 || row + column + 1 == cases[i].dims[row == 0]);
            }
        tern_map_graph_free(&graph);
    }
    struct tern_map_graph point;
    ck_assert_int_eq(tern_map_graph_of_grid(3, 0, NULL, NULL, &point), 0);
    ck_assert_int_eq(point.first[3], 0);
    tern_map_graph_free(&point);
}
END_TEST

START_TEST(distances_grow_with_the_part)
{
    struct tern_place a = {{1, 1, 1, 1, 1, 1}}, b = a;
    int last = 0;
    ck_assert_int_eq(tern_place_distance(&a, &b), 0);
    for (int level = TERN_PLACE_CORE; level >= TERN_PLACE_NODE; level--) {
        b.part[level] = 2;
        ck_assert_int_gt(tern_place_distance(&a, &b), last);
        last = tern_place_distance(&a, &b);
        ck_assert_int_eq(tern_place_distance(&b, &a), last);
    }
    b = a;
    a.part[TERN_PLACE_L3] = b.part[TERN_PLACE_L3] = -1; /* both unknown: not together */
    ck_assert_int_gt(tern_place_distance(&a, &b), 0);
}
END_TEST

/* A stencil on many nodes is mapped well and quickly enough. */
START_TEST(thousands_of_processes)
{
    const struct machine m = {"", 64, 2, 4, 8, BY_NODE};
    const int dims[] = {16, 16, 16}, periods[] = {1, 1, 1};
    int n = make_places(&m), process[N_MAX];
    struct tern_map_graph graph;
    ck_assert_int_eq(n, 4096);
    ck_assert_int_eq(tern_map_graph_of_grid(n, 3, dims, periods, &graph), 0);
    ck_assert_int_eq(tern_map_grid(n, 3, dims, periods, places, process), 0);
    ck_assert_int_eq(edges_between(&graph, process, TERN_PLACE_NODE), 3 * 256 * 4);
    ck_assert_int_eq(tern_map_vertices(&graph, places, process),
                     0); /* not told that it is a grid */
    ck_assert_int_le(edges_between(&graph, process, TERN_PLACE_NODE), 3 * 256 * 4 * 3 / 2);
    tern_map_graph_free(&graph);
}
END_TEST

/* Bisection alone finds what blocks find, if it is improved by passes. */
START_TEST(a_grid_is_found_in_its_graph)
{
    const struct machine m = {"", 8, 2, 4, 8, BY_NODE};
    const int dims[] = {8, 8, 8}, periods[] = {1, 1, 1};
    int n = make_places(&m), process[N_MAX];
    struct tern_map_graph graph;
    ck_assert_int_eq(tern_map_graph_of_grid(n, 3, dims, periods, &graph), 0);
    ck_assert_int_eq(tern_map_grid(n, 3, dims, periods, places, process), 0);
    int64_t by_blocks = check_mapping(&graph, process);
    ck_assert_int_eq(tern_map_vertices(&graph, places, process), 0);
    ck_assert_int_le(20 * check_mapping(&graph, process), 21 * by_blocks);
    tern_map_graph_free(&graph);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("topo_map");
    TCase *tests = suite_case(suite, "topo_map");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, never_worse_than_the_given_order, 0, MACHINES);
    tcase_add_loop_test(tests, equal_arguments_give_equal_results, 0, MACHINES);
    tcase_add_test(tests, close_to_the_best_of_all_orders);
    tcase_add_test(tests, groups_of_friends_come_together);
    tcase_add_test(tests, weights_count);
    tcase_add_loop_test(tests, grids_are_cut_into_blocks, 0, sizeof grids / sizeof *grids);
    tcase_add_loop_test(tests, grids_are_never_worse_than_the_given_order, 0, MACHINES);
    tcase_add_test(tests, edges_of_a_grid);
    tcase_add_test(tests, distances_grow_with_the_part);
    tcase_add_test(tests, thousands_of_processes);
    tcase_add_test(tests, a_grid_is_found_in_its_graph);
    return suite_run(suite);
}
