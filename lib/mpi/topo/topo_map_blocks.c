/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Cuts a grid into nested blocks: one block per node, within it one per package, and so on. W.
 * Gropp factors a grid by nodes in this way ("Using Node and Socket Information to Implement MPI
 * Cartesian Topologies", Parallel Computing 85, 2019); here it works for any number of levels. The
 * shape of each block is the one that cuts the fewest edges among all shapes that divide the block
 * around it. This needs parts of equal size; all else is left to the recursive bisection.
 */

#include "lib/mpi/topo/topo_map.h"

#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

/* A search for the shape of a block. The arrays have ndims elements. */
struct shapes {
    int ndims;
    const int *dims, *periods, *outer; /* the grid, and the block around */
    int *trial, *best;
    double best_cut;
};

/* Returns the edges per place that leave a block of this shape. If the block fills a dimension, no
 * edge of that dimension leaves: with a period both ends are inside, too. */
static double cut_of(const struct shapes *shapes)
{
    double cut = 0;
    for (int d = 0; d < shapes->ndims; d++) {
        int blocks = shapes->dims[d] / shapes->trial[d];
        if (blocks > 1)
            cut += (double)(shapes->periods[d] ? blocks : blocks - 1) / shapes->dims[d];
    }
    return cut;
}

/* Tries all shapes of `rest` places from dimension d on. */
static void search(struct shapes *shapes, int d, int rest)
{
    if (d == shapes->ndims) {
        double cut = cut_of(shapes);
        if (rest == 1 && cut < shapes->best_cut) {
            shapes->best_cut = cut;
            memcpy(shapes->best, shapes->trial, (size_t)shapes->ndims * sizeof *shapes->best);
        }
        return;
    }
    for (int extent = 1; extent <= shapes->outer[d] && extent <= rest; extent++)
        if (shapes->outer[d] % extent == 0 && rest % extent == 0) {
            shapes->trial[d] = extent;
            search(shapes, d + 1, rest / extent);
        }
}

/* Returns how many of the first `places` seats are in each part of this level, or 0 if the parts
 * differ in size. */
static int size_of_parts(const struct tern_map_seats *seats, int level, int places)
{
    int size = 0, from = 0;
    for (int s = 1; s <= places; s++) {
        if (s < places && seats->level[s] > level)
            continue;
        if (size && s - from != size)
            return 0;
        size = s - from;
        from = s;
    }
    return size;
}

/* Adds to each vertex's seat the position of its inner block in the outer block. Both shapes have
 * ndims extents; `inner` divides `outer`. */
static void place_blocks(int ndims, const int dims[], const int outer[], const int inner[],
                         int inner_size, int places, int seat_of[])
{
    for (int v = 0; v < places; v++) {
        int number = 0, rest = v, stride = 1;
        for (int d = ndims - 1; d >= 0; d--) { /* row by row */
            int coord = rest % dims[d];
            rest /= dims[d];
            number += coord % outer[d] / inner[d] * stride;
            stride *= outer[d] / inner[d];
        }
        seat_of[v] += number * inner_size;
    }
}

int tern_map_blocks(int ndims, const int dims[], const int periods[],
                    const struct tern_map_seats *seats, int vertex_of[], bool *ret_fits)
{
    int places = 1, size;
    for (int d = 0; d < ndims; d++)
        places *= dims[d];
    int *work = malloc((3 * (size_t)ndims + (size_t)places + 1) * sizeof *work);
    if (!work)
        return tern_error(TERN_ERR_NO_MEM, "no memory to divide a grid of %d places", places);
    int *outer = work, *inner = work + ndims, *seat_of = work + 3 * ndims;
    memset(seat_of, 0, (size_t)places * sizeof *seat_of);
    memcpy(outer, dims, (size_t)ndims * sizeof *outer);
    size = places;
    *ret_fits = false;
    for (int level = 0; level < TERN_PLACE_LEVELS; level++) {
        int part = size_of_parts(seats, level, places);
        struct shapes shapes = {ndims, dims, periods, outer, work + 2 * ndims, inner, 1e30};
        if (part == size)
            continue;
        if (part)
            search(&shapes, 0, part);
        if (!part || shapes.best_cut == 1e30)
            break;
        place_blocks(ndims, dims, outer, inner, part, places, seat_of);
        memcpy(outer, inner, (size_t)ndims * sizeof *outer);
        size = part;
        *ret_fits = true;
    }
    for (int d = 0; d < ndims; d++)
        inner[d] = 1;
    place_blocks(ndims, dims, outer, inner, 1, places, seat_of);
    for (int v = 0; v < places; v++)
        vertex_of[seat_of[v]] = v;
    for (int s = places; s < seats->n; s++)
        vertex_of[s] = s;
    free(work);
    return 0;
}
