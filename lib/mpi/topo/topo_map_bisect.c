/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Mapping by dual recursive bisection (F. Pellegrini, "Static mapping by dual recursive
 * bipartitioning of process and architecture graphs", SHPCC 1994). The seats are halved where the
 * hardware divides them, the widest parts first. The vertices are divided into two sets of the same
 * sizes with few edges cut. Then each half is divided by itself. The hardware is a tree, so
 * everything outside a domain is equally far from both halves and can be ignored.
 *
 * A bisection is the best of three: the vertices in order, and two that are grown by always taking
 * the vertex that cuts least (greedy graph growing: G. Karypis, V. Kumar, "A Fast and High Quality
 * Multilevel Scheme for Partitioning Irregular Graphs", SIAM J. Sci. Comput. 20, 1998). One grows
 * from the first vertex and one from a vertex at the rim. Each is improved by passes of B.
 * Kernighan and S. Lin ("An Efficient Heuristic Procedure for Partitioning Graphs", 1970). A pass
 * moves the best vertex of a side at a time, as C. Fiduccia and R. Mattheyses do (DAC 1982), and
 * alternates between the sides, so that the sizes stay exact.
 */

#include "lib/mpi/topo/topo_map.h"

#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

enum { PASSES_MAX = 6, OUTSIDE = -1, LEFT = 0, RIGHT = 1 };

/* Vertices ordered by key, the largest first; of equal keys the smaller vertex first. */
struct heap {
    int count;
    int *vertex; /* a binary heap */
    /* position of each vertex in the heap, or -1; shared by the heaps of a bisection */
    int *at;
    const int64_t *key;
};

struct bisection {
    const struct tern_map_graph *graph;
    const struct tern_map_seats *seats;
    int *vertices; /* the vertex of each seat; the result */
    /* of each vertex: OUTSIDE of the current domain, LEFT or RIGHT */
    signed char *side;
    signed char *best; /* the best division so far */
    int64_t *key;
    struct heap heaps[2];
    int *moved; /* vertices in the order in which they moved */
};

/* ---- heap ---- */

static bool before(const struct heap *heap, int a, int b)
{
    return heap->key[a] != heap->key[b] ? heap->key[a] > heap->key[b] : a < b;
}

static void put(struct heap *heap, int place, int vertex)
{
    heap->vertex[place] = vertex;
    heap->at[vertex] = place;
}

static void rise(struct heap *heap, int place)
{
    int vertex = heap->vertex[place];
    for (; place > 0 && before(heap, vertex, heap->vertex[(place - 1) / 2]);
         place = (place - 1) / 2)
        put(heap, place, heap->vertex[(place - 1) / 2]);
    put(heap, place, vertex);
}

static void sink(struct heap *heap, int place)
{
    int vertex = heap->vertex[place];
    for (int child; (child = 2 * place + 1) < heap->count; place = child) {
        if (child + 1 < heap->count && before(heap, heap->vertex[child + 1], heap->vertex[child]))
            child++;
        if (!before(heap, heap->vertex[child], vertex))
            break;
        put(heap, place, heap->vertex[child]);
    }
    put(heap, place, vertex);
}

static void insert(struct heap *heap, int vertex)
{
    put(heap, heap->count++, vertex);
    rise(heap, heap->count - 1);
}

static void key_changed(struct heap *heap, int vertex)
{
    rise(heap, heap->at[vertex]);
    sink(heap, heap->at[vertex]);
}

static int take_first(struct heap *heap)
{
    int vertex = heap->vertex[0], last = heap->vertex[--heap->count];
    heap->at[vertex] = -1;
    if (heap->count > 0) {
        put(heap, 0, last);
        sink(heap, 0);
    }
    return vertex;
}

static void clear(struct heap *heap)
{
    while (heap->count > 0)
        heap->at[heap->vertex[--heap->count]] = -1;
}

/* ---- one bisection of vertices[0 .. count-1], `left` of them to the left ---- */

static int64_t cut_of(const struct bisection *b, const int vertices[], int count)
{
    const struct tern_map_graph *graph = b->graph;
    int64_t cut = 0;
    for (int i = 0; i < count; i++) {
        int v = vertices[i];
        for (int64_t e = graph->first[v]; b->side[v] == LEFT && e < graph->first[v + 1]; e++)
            cut += b->side[graph->to[e]] == RIGHT ? graph->weight[e] : 0;
    }
    return cut;
}

/* Returns by how much the cut falls if `v` changes sides. */
static int64_t gain_of(const struct bisection *b, int v)
{
    const struct tern_map_graph *graph = b->graph;
    int64_t gain = 0;
    for (int64_t e = graph->first[v]; e < graph->first[v + 1]; e++)
        if (b->side[graph->to[e]] != OUTSIDE)
            gain += b->side[graph->to[e]] == b->side[v] ? -graph->weight[e] : graph->weight[e];
    return gain;
}

/* Moves `v` to the other side, and updates the keys of its neighbours that are still in a heap. */
static void move(struct bisection *b, int v)
{
    const struct tern_map_graph *graph = b->graph;
    b->side[v] = (signed char)!b->side[v];
    for (int64_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
        int u = graph->to[e];
        if (b->side[u] == OUTSIDE || b->heaps[0].at[u] < 0)
            continue;
        b->key[u] += b->side[u] == b->side[v] ? -2 * graph->weight[e] : 2 * graph->weight[e];
        key_changed(&b->heaps[(int)b->side[u]], u);
    }
}

/* Moves pairs of vertices, each vertex once, also while that makes the cut larger. Then goes back
 * to the smallest cut. Returns by how much the cut fell. */
static int64_t pass(struct bisection *b, const int vertices[], int count)
{
    int64_t gain = 0, best_gain = 0;
    int moves = 0, best_moves = 0, patience = 64 + count / 16;
    for (int i = 0; i < count; i++) {
        b->key[vertices[i]] = gain_of(b, vertices[i]);
        insert(&b->heaps[(int)b->side[vertices[i]]], vertices[i]);
    }
    while (b->heaps[LEFT].count && b->heaps[RIGHT].count && moves - best_moves < 2 * patience) {
        for (int side = LEFT; side <= RIGHT; side++) {
            int v = take_first(&b->heaps[side]);
            gain += b->key[v];
            move(b, v);
            b->moved[moves++] = v;
        }
        if (gain > best_gain) {
            best_gain = gain;
            best_moves = moves;
        }
    }
    clear(&b->heaps[LEFT]);
    clear(&b->heaps[RIGHT]);
    while (moves > best_moves)
        move(b, b->moved[--moves]);
    return best_gain;
}

/* Improves the division in `side`, and keeps it if it is the best so far. */
static void finish_trial(struct bisection *b, const int vertices[], int count, int64_t *best_cut)
{
    int64_t cut = cut_of(b, vertices, count);
    for (int i = 0; i < PASSES_MAX; i++) {
        int64_t gain = pass(b, vertices, count);
        cut -= gain;
        if (gain == 0)
            break;
    }
    if (*best_cut >= 0 && cut >= *best_cut)
        return;
    *best_cut = cut;
    for (int i = 0; i < count; i++)
        b->best[vertices[i]] = b->side[vertices[i]];
}

/* Grows the left side from `seed`. The key of a vertex is by how much its move lowers the cut. */
static void grow(struct bisection *b, const int vertices[], int count, int left, int seed)
{
    struct heap *heap = &b->heaps[RIGHT];
    for (int i = 0; i < count; i++)
        b->side[vertices[i]] = RIGHT;
    for (int i = 0; i < count; i++) {
        b->key[vertices[i]] = gain_of(b, vertices[i]);
        insert(heap, vertices[i]);
    }
    b->key[seed] = INT64_MAX / 2;
    key_changed(heap, seed);
    for (int i = 0; i < left; i++)
        move(b, take_first(heap));
    clear(heap);
}

/* Returns the last vertex that a breadth-first search from `seed` finds: a vertex at the rim of
 * seed's region. */
static int farthest(struct bisection *b, const int vertices[], int count, int seed)
{
    const struct tern_map_graph *graph = b->graph;
    int *queue = b->moved, tail = 0;
    for (int i = 0; i < count; i++)
        b->side[vertices[i]] = RIGHT;
    b->side[seed] = LEFT;
    queue[tail++] = seed;
    for (int head = 0; head < tail; head++)
        for (int64_t e = graph->first[queue[head]]; e < graph->first[queue[head] + 1]; e++)
            if (b->side[graph->to[e]] == RIGHT) {
                b->side[graph->to[e]] = LEFT;
                queue[tail++] = graph->to[e];
            }
    return queue[tail - 1];
}

/* Reorders the vertices so that `left` vertices that belong together come first. Both sides are in
 * ascending order. */
static void bisect(struct bisection *b, int vertices[], int count, int left)
{
    int64_t best_cut = -1;
    for (int i = 0; i < count; i++)
        b->side[vertices[i]] = i < left ? LEFT : RIGHT; /* the vertices are in ascending order */
    finish_trial(b, vertices, count, &best_cut);
    int rim = farthest(b, vertices, count, vertices[0]);
    grow(b, vertices, count, left, vertices[0]);
    finish_trial(b, vertices, count, &best_cut);
    if (rim != vertices[0]) {
        grow(b, vertices, count, left, rim);
        finish_trial(b, vertices, count, &best_cut);
    }
    int l = 0, r = left;
    for (int i = 0; i < count; i++) {
        b->moved[b->best[vertices[i]] == LEFT ? l++ : r++] = vertices[i];
        b->side[vertices[i]] = OUTSIDE;
    }
    memcpy(vertices, b->moved, (size_t)count * sizeof *vertices);
}

/* ---- recursion ---- */

/* Finds where to divide the seats from .. to-1: at the widest level at which they are apart, as
 * close to the middle as possible. Returns 0 if all are equally far apart, so that any order is
 * right. */
static int divide(const struct tern_map_seats *seats, int from, int to)
{
    int widest = TERN_PLACE_LEVELS, narrowest = 0, at = 0;
    for (int s = from + 1; s < to; s++) {
        widest = seats->level[s] < widest ? seats->level[s] : widest;
        narrowest = seats->level[s] > narrowest ? seats->level[s] : narrowest;
    }
    if (to - from < 3 || widest == narrowest)
        return 0;
    for (int s = from + 1; s < to; s++)
        if (seats->level[s] == widest && (!at || abs(2 * s - from - to) < abs(2 * at - from - to)))
            at = s;
    return at;
}

static void map_domain(struct bisection *b, int from, int to)
{
    int at = divide(b->seats, from, to);
    if (!at)
        return;
    bisect(b, b->vertices + from, to - from, at - from);
    map_domain(b, from, at);
    map_domain(b, at, to);
}

int tern_map_bisect(const struct tern_map_graph *graph, const struct tern_map_seats *seats,
                    int vertex_of[])
{
    size_t n = (size_t)graph->n;
    int *ints = malloc((4 * n + 1) * sizeof *ints);
    int64_t *key = malloc((n + 1) * sizeof *key);
    signed char *sides = malloc(2 * n + 1);
    if (!ints || !key || !sides) {
        free(ints);
        free(key);
        free(sides);
        return tern_error(TERN_ERR_NO_MEM, "no memory to map %d vertices", graph->n);
    }
    struct bisection b = {
        .graph = graph,
        .seats = seats,
        .vertices = vertex_of,
        .side = sides,
        .best = sides + n,
        .key = key,
        .heaps = {{0, ints, ints + 2 * n, key}, {0, ints + n, ints + 2 * n, key}},
        .moved = ints + 3 * n,
    };
    memset(sides, OUTSIDE, n);
    for (int v = 0; v < graph->n; v++) {
        vertex_of[v] = v;
        b.heaps[0].at[v] = -1;
    }
    map_domain(&b, 0, graph->n);
    free(ints);
    free(key);
    free(sides);
    return 0;
}
