/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 16 */
/* Neighbourhood collectives, blocking, nonblocking and persistent, on grids (with dimensions of one
 * and two, periods, ends) and on graphs of both kinds with loops and repeated edges: the j-th copy
 * of an edge at its source is the j-th copy at its destination; blocks of nobody stay as they were.
 */
#include "check.h"
#include <stdbool.h>

enum { DEGREE_MAX = 96, RANKS_MAX = 64, ROUNDS = 3 };

/* The neighbourhood of every rank, gathered. */
static int in_count[RANKS_MAX], out_count[RANKS_MAX];
static int in_of[RANKS_MAX][DEGREE_MAX], out_of[RANKS_MAX][DEGREE_MAX];
static int me, members;
static bool grid;

static void gather_neighborhoods(MPI_Comm comm, int in, const int sources[], int out,
                                 const int destinations[])
{
    static int mine[DEGREE_MAX];
    CHECK(in <= DEGREE_MAX && out <= DEGREE_MAX);
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK_OK(MPI_Comm_size(comm, &members));
    CHECK_OK(MPI_Allgather(&in, 1, MPI_INT, in_count, 1, MPI_INT, comm));
    CHECK_OK(MPI_Allgather(&out, 1, MPI_INT, out_count, 1, MPI_INT, comm));
    if (in)
        memcpy(mine, sources, (size_t)in * sizeof *mine);
    CHECK_OK(MPI_Allgather(mine, DEGREE_MAX, MPI_INT, in_of, DEGREE_MAX, MPI_INT, comm));
    if (out)
        memcpy(mine, destinations, (size_t)out * sizeof *mine);
    CHECK_OK(MPI_Allgather(mine, DEGREE_MAX, MPI_INT, out_of, DEGREE_MAX, MPI_INT, comm));
}

/* Which of its source's blocks my i-th one is. */
static int block_of_source(int i)
{
    int source = in_of[me][i], copy = 0, at = 0;
    if (grid)
        return i ^ 1;
    for (int k = 0; k < i; k++)
        copy += in_of[me][k] == source;
    for (;; at++) {
        CHECK(at < out_count[source]);
        if (out_of[source][at] == me && copy-- == 0)
            return at;
    }
}

/* What `from` sends in block k; word w of it. Blocks differ in length where the call allows it. */
static int word(int from, int k, int w)
{
    return 1 + (from * DEGREE_MAX + k) * 4 + w;
}

static int length_of(int from, int k)
{
    return (from + 2 * k) % 4;
}

static MPI_Request request;
static int mode; /* 0: blocking, 1: nonblocking, 2: persistent */

static void finish(int code)
{
    CHECK_OK(code);
    if (mode == 0)
        return;
    if (mode == 1) {
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&request));
}

#define CALL(name, ...)                                                                            \
    finish(mode == 0   ? MPI_Neighbor_##name(__VA_ARGS__)                                          \
           : mode == 1 ? MPI_Ineighbor_##name(__VA_ARGS__, &request)                               \
                       : MPI_Neighbor_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request))

static int send[4 * DEGREE_MAX], got[4 * DEGREE_MAX];

static void reset(void)
{
    memset(got, -1, sizeof got);
}

/* `length` words of block `block` of the i-th source lie at got + at. */
static void expect(int i, int at, int block, int length)
{
    int source = in_of[me][i];
    for (int w = 0; w < 4; w++)
        CHECK_INT(got[at + w],
                  source == MPI_PROC_NULL || w >= length ? -1 : word(source, block, w));
}

static void exchange(MPI_Comm comm)
{
    int in = in_count[me], out = out_count[me];
    int send_counts[DEGREE_MAX], recv_counts[DEGREE_MAX], places[DEGREE_MAX], back[DEGREE_MAX];
    MPI_Aint send_bytes[DEGREE_MAX], recv_bytes[DEGREE_MAX];
    MPI_Datatype types[DEGREE_MAX];
    for (int k = 0; k < DEGREE_MAX; k++) {
        for (int w = 0; w < 4; w++)
            send[4 * k + w] = word(me, k, w);
        places[k] = 4 * k;
        types[k] = MPI_INT;
        send_bytes[k] = (MPI_Aint)(4 * k * sizeof(int));
    }
    for (int i = 0; i < in; i++) { /* received in the reverse order */
        back[i] = 4 * (in - 1 - i);
        recv_bytes[i] = (MPI_Aint)((size_t)back[i] * sizeof(int));
    }

    reset();
    CALL(allgather, send, 4, MPI_INT, got, 4, MPI_INT, comm);
    for (int i = 0; i < in; i++)
        expect(i, 4 * i, 0, 4);

    for (int i = 0; i < in; i++)
        recv_counts[i] = 3;
    reset();
    CALL(allgatherv, send, 3, MPI_INT, got, recv_counts, back, MPI_INT, comm);
    for (int i = 0; i < in; i++)
        expect(i, back[i], 0, 3);

    reset();
    CALL(alltoall, send, 4, MPI_INT, got, 4, MPI_INT, comm);
    for (int i = 0; i < in; i++)
        expect(i, 4 * i, in_of[me][i] == MPI_PROC_NULL ? 0 : block_of_source(i), 4);

    for (int k = 0; k < out; k++)
        send_counts[k] = length_of(me, k);
    for (int i = 0; i < in; i++)
        recv_counts[i] =
            in_of[me][i] == MPI_PROC_NULL ? 2 : length_of(in_of[me][i], block_of_source(i));
    reset();
    CALL(alltoallv, send, send_counts, places, MPI_INT, got, recv_counts, back, MPI_INT, comm);
    for (int i = 0; i < in; i++)
        expect(i, back[i], in_of[me][i] == MPI_PROC_NULL ? 0 : block_of_source(i), recv_counts[i]);

    reset();
    CALL(alltoallw, send, send_counts, send_bytes, types, got, recv_counts, recv_bytes, types,
         comm);
    for (int i = 0; i < in; i++)
        expect(i, back[i], in_of[me][i] == MPI_PROC_NULL ? 0 : block_of_source(i), recv_counts[i]);
}

static void exchange_in_all_modes(MPI_Comm *comm)
{
    MPI_Comm twin;
    for (mode = 0; mode < 3; mode++)
        exchange(*comm);
    CHECK_OK(MPI_Comm_dup(*comm, &twin)); /* has the same topology */
    CHECK_OK(MPI_Comm_free(comm));
    mode = 0;
    exchange(twin);
    CHECK_OK(MPI_Comm_free(&twin));
}

static void grids(void)
{
    for (int a = 1; a <= size; a++)
        for (int b = 1; a * b <= size; b++)
            for (int kind = 0; kind < 8; kind++) {
                int dims[] = {a, b, 1}, periods[] = {kind & 1, kind >> 1 & 1, kind >> 2};
                int neighbors[6];
                MPI_Comm comm;
                CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, kind & 1, &comm));
                if (comm == MPI_COMM_NULL)
                    continue;
                for (int d = 0; d < 3; d++)
                    CHECK_OK(MPI_Cart_shift(comm, d, 1, &neighbors[2 * d], &neighbors[2 * d + 1]));
                gather_neighborhoods(comm, 6, neighbors, 6, neighbors);
                grid = true;
                exchange_in_all_modes(&comm);
            }
    grid = false;
}

/* Random edges, the same on all ranks; every third a loop or a repetition. */
static int edge_count, from[3 * RANKS_MAX], to[3 * RANKS_MAX];

static void draw_edges(int seed)
{
    unsigned state = 12345u + 77u * (unsigned)seed;
    edge_count = seed == 0 ? 0 : 3 * size;
    for (int e = 0; e < edge_count; e++) {
        state = state * 1103515245u + 12345u;
        from[e] = (int)(state >> 16) % size;
        state = state * 1103515245u + 12345u;
        to[e] = (int)(state >> 16) % size;
        if (e % 6 == 2)
            to[e] = from[e];
        if (e % 6 == 5) {
            from[e] = from[e - 3];
            to[e] = to[e - 3];
        }
    }
}

static void graphs(int reorder)
{
    int index[RANKS_MAX], edges[6 * RANKS_MAX], neighbors[DEGREE_MAX], count = 0, n;
    MPI_Comm comm;
    for (int v = 0; v < size; v++) { /* both directions; a loop once */
        for (int e = 0; e < edge_count; e++) {
            if (from[e] == v)
                edges[count++] = to[e];
            if (to[e] == v && from[e] != v)
                edges[count++] = from[e];
        }
        index[v] = count;
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, reorder, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK_OK(MPI_Graph_neighbors_count(comm, me, &n));
    CHECK_INT(n, index[me] - (me ? index[me - 1] : 0));
    CHECK_OK(MPI_Graph_neighbors(comm, me, n, neighbors));
    for (int i = 0; i < n; i++)
        CHECK_INT(neighbors[i], edges[(me ? index[me - 1] : 0) + i]);
    gather_neighborhoods(comm, n, neighbors, n, neighbors);
    exchange_in_all_modes(&comm);
}

/* An edge's weight is its number, so that each can be told from its copies. */
static void check_edges(int count, const int others[], const int weights[], const int mine[],
                        const int other_ends[], bool in_order)
{
    bool seen[3 * RANKS_MAX] = {false};
    int expected = 0, last = -1;
    for (int e = 0; e < edge_count; e++)
        expected += mine[e] == me;
    CHECK_INT(count, expected);
    for (int i = 0; i < count; i++) {
        int e = weights[i];
        CHECK(e >= 0 && e < edge_count && !seen[e]);
        seen[e] = true;
        CHECK_INT(mine[e], me);
        CHECK_INT(others[i], other_ends[e]);
        CHECK(!in_order || e > last);
        last = e;
    }
}

static void check_dist_graph(MPI_Comm *comm, bool weighted, bool in_order)
{
    int in, out, flag, sources[DEGREE_MAX], destinations[DEGREE_MAX], in_weights[DEGREE_MAX],
        out_weights[DEGREE_MAX];
    CHECK_OK(MPI_Comm_rank(*comm, &me));
    CHECK_OK(MPI_Dist_graph_neighbors_count(*comm, &in, &out, &flag));
    CHECK_INT(flag, weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(*comm, in, sources, weighted ? in_weights : MPI_UNWEIGHTED,
                                      out, destinations, weighted ? out_weights : MPI_UNWEIGHTED));
    if (weighted) {
        check_edges(in, sources, in_weights, to, from, in_order);
        check_edges(out, destinations, out_weights, from, to, in_order);
    }
    gather_neighborhoods(*comm, in, sources, out, destinations);
    exchange_in_all_modes(comm);
}

static void dist_graphs(bool weighted, int reorder)
{
    int in = 0, out = 0, n = 0, sources[3 * RANKS_MAX], destinations[3 * RANKS_MAX],
        in_weights[3 * RANKS_MAX], out_weights[3 * RANKS_MAX], degrees[3 * RANKS_MAX];
    MPI_Comm comm;
    for (int e = 0; e < edge_count; e++) {
        if (to[e] == rank) {
            in_weights[in] = e;
            sources[in++] = from[e];
        }
        if (from[e] == rank) {
            out_weights[out] = e;
            destinations[out++] = to[e];
        }
    }
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources,
                                            !weighted ? MPI_UNWEIGHTED
                                            : in      ? in_weights
                                                      : MPI_WEIGHTS_EMPTY,
                                            out, destinations,
                                            !weighted ? MPI_UNWEIGHTED
                                            : out     ? out_weights
                                                      : MPI_WEIGHTS_EMPTY,
                                            MPI_INFO_NULL, reorder, &comm));
    check_dist_graph(&comm, weighted, true);

    /* Rank r names edges r, r + size, ..., in one list each, or several with the same source, or
     * none. */
    out = 0;
    for (int e = rank; e < edge_count; e += size) {
        if (n == 0 || sources[n - 1] != from[e]) {
            sources[n] = from[e];
            degrees[n++] = 0;
        }
        degrees[n - 1]++;
        out_weights[out] = e;
        destinations[out++] = to[e];
    }
    sources[n] = rank; /* a source without edges */
    degrees[n++] = 0;
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations,
                                   !weighted ? MPI_UNWEIGHTED
                                   : out     ? out_weights
                                             : MPI_WEIGHTS_EMPTY,
                                   MPI_INFO_NULL, reorder, &comm));
    check_dist_graph(&comm, weighted, false);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK(size <= RANKS_MAX);
    grids();
    for (int seed = 0; seed < 6; seed++) {
        draw_edges(seed);
        graphs(seed % 2);
        dist_graphs(seed % 3 != 0, seed % 2);
    }
    return end();
}
