/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves a Poisson equation on a cube of edge^3 points by conjugate gradients: a small application.
 *
 * Each rank owns some planes of the cube. An iteration sends the outer planes to both neighbours
 * and adds two sums over all ranks: messages of edge^2 doubles and MPI_Allreduce of 8 bytes.
 * Prints the time of an iteration, averaged over whole solutions. Ends with an error if a solution
 * is not the known one. */
#include "bench.h"

enum { MOST_ITERATIONS = 2000 };
static const double TOLERANCE = 1e-9; /* residual at the end, relative to that at the begin */

/* Fields have a plane of the lower neighbour before the rank's own planes, and one of the upper
 * neighbour behind them. At the cube's border they stay zero. */
struct cube {
    int edge, planes, lower, upper;
    size_t plane, own; /* points of a plane, and of all planes of this rank */
    double *x, *r, *p, *q, *b;
    int iterations;
};

static double *field(const struct cube *c)
{
    double *field = calloc(c->own + 2 * c->plane, sizeof *field);
    if (!field) {
        fprintf(stderr, "no memory for a cube of edge %d\n", c->edge);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return field;
}

static void exchange(const struct cube *c, double *v)
{
    MPI_Request requests[4];
    int n = (int)c->plane;
    double *first = v + c->plane, *last = v + c->own;
    MPI_Irecv(v, n, MPI_DOUBLE, c->lower, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(last + c->plane, n, MPI_DOUBLE, c->upper, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(first, n, MPI_DOUBLE, c->lower, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(last, n, MPI_DOUBLE, c->upper, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static double product(const struct cube *c, const double *v, const double *w)
{
    double mine = 0, all;
    for (size_t i = c->plane; i < c->plane + c->own; i++)
        mine += v[i] * w[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* out = A in, A: 6 on the diagonal, -1 for each of the six neighbours */
static void apply(const struct cube *c, double *in, double *out)
{
    int edge = c->edge;
    exchange(c, in);
    for (int z = 1; z <= c->planes; z++)
        for (int y = 0; y < edge; y++) {
            size_t row = z * c->plane + (size_t)y * edge;
            for (int x = 0; x < edge; x++) {
                size_t i = row + x;
                double sum = 6 * in[i] - in[i - c->plane] - in[i + c->plane];
                sum -= y > 0 ? in[i - edge] : 0;
                sum -= y < edge - 1 ? in[i + edge] : 0;
                sum -= x > 0 ? in[i - 1] : 0;
                sum -= x < edge - 1 ? in[i + 1] : 0;
                out[i] = sum;
            }
        }
}

static void solve_once(struct cube *c)
{
    size_t begin = c->plane, end = c->plane + c->own;
    for (size_t i = begin; i < end; i++) {
        c->x[i] = 0;
        c->r[i] = c->p[i] = c->b[i];
    }
    double rr = product(c, c->r, c->r), least = rr * TOLERANCE * TOLERANCE;
    for (c->iterations = 0; rr > least && c->iterations < MOST_ITERATIONS; c->iterations++) {
        apply(c, c->p, c->q);
        double alpha = rr / product(c, c->p, c->q);
        for (size_t i = begin; i < end; i++) {
            c->x[i] += alpha * c->p[i];
            c->r[i] -= alpha * c->q[i];
        }
        double before = rr;
        rr = product(c, c->r, c->r);
        for (size_t i = begin; i < end; i++)
            c->p[i] = c->r[i] + rr / before * c->p[i];
    }
}

static double solve(int repetitions, void *state)
{
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++)
        solve_once(state);
    return MPI_Wtime() - begin;
}

/* the solution that the right-hand side belongs to, at a point of the whole cube */
static double known(const struct cube *c, int first_plane, size_t i)
{
    size_t point = (size_t)first_plane * c->plane + i;
    return (double)(point * 2654435761u % 1000) / 1000;
}

static void measure(const struct bench *b, int edge)
{
    int first = (int)((long)edge * rank / size), next = (int)((long)edge * (rank + 1) / size);
    struct cube c = {.edge = edge, .planes = next - first, .plane = (size_t)edge * edge};
    c.own = c.plane * (size_t)c.planes;
    c.lower = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    c.upper = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    c.x = field(&c);
    c.r = field(&c);
    c.p = field(&c);
    c.q = field(&c);
    c.b = field(&c);
    for (size_t i = 0; i < c.own; i++)
        c.p[c.plane + i] = known(&c, first, i);
    apply(&c, c.p, c.b);
    double seconds = bench_median(b, solve, &c), worst = 0, all;
    for (size_t i = 0; i < c.own; i++) {
        double wrong = c.x[c.plane + i] - known(&c, first, i);
        if (!(wrong * wrong <= worst)) /* also if it is not a number */
            worst = wrong * wrong;
    }
    MPI_Allreduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (!(all < 1e-10)) {
        fprintf(stderr, "edge %d: the solution after %d iterations is wrong by %g, squared\n", edge,
                c.iterations, all);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    bench_print("cg", edge, seconds / c.iterations * 1e6, "us");
    free(c.x);
    free(c.r);
    free(c.p);
    free(c.q);
    free(c.b);
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 0);
    static const int edges[] = {16, 32, 48};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        if (edges[i] >= size)
            measure(&b, edges[i]);
    MPI_Finalize();
    return 0;
}
