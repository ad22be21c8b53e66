/* SPDX-License-Identifier: BSD-3-Clause */

/* Cartesian grids (MPI-4.1 section 8.5). The last dimension varies fastest with the rank. */

#include "lib/mpi/object/comm.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/topo/topo.h"
#include "lib/mpi/topo/topo_reorder.h"
#include "lib/util/base/error.h"

#include <stdio.h>
#include <stdlib.h>

/* Says that the grid of the dimensions up to `last` has more places than comm has processes. */
static int too_many_places(int last, int64_t places, int size)
{
    char range[32] = "";
    if (last > 0)
        snprintf(range, sizeof range, " to dims[%d]", last);
    return tern_error(TERN_ERR_ARG, "dims[0]%s need%s %lld processes; comm has %d", range,
                      last > 0 ? "" : "s", (long long)places, size);
}

/* Checks the shape of a grid against the `size` of the communicator, and computes its number of
 * places. */
static int check_grid(int ndims, const int dims[], int size, int *ret_places)
{
    int64_t places = 1;
    if (ndims < 0)
        return tern_error(TERN_ERR_DIMS, "ndims is %d; expected 0 or more", ndims);
    for (int d = 0; d < ndims; d++) {
        if (dims[d] < 1)
            return tern_error(TERN_ERR_DIMS, "dims[%d] is %d; expected 1 or more", d, dims[d]);
        places *= dims[d];
        if (places > size)
            return too_many_places(d, places, size);
    }
    *ret_places = (int)places;
    return 0;
}

static void coords_of_rank(const struct tern_topo *topo, int rank, int coords[])
{
    for (int d = topo->cart.ndims - 1; d >= 0; d--) {
        coords[d] = rank % topo->cart.dims[d];
        rank /= topo->cart.dims[d];
    }
}

/* Returns the rank of coordinates, which must lie inside the grid. */
static int rank_of_coords(const struct tern_topo *topo, const int coords[])
{
    int rank = 0;
    for (int d = 0; d < topo->cart.ndims; d++)
        rank = rank * topo->cart.dims[d] + coords[d];
    return rank;
}

static int positive_modulo(int64_t value, int divisor)
{
    int64_t rest = value % divisor;
    return (int)(rest < 0 ? rest + divisor : rest);
}

struct tern_topo *tern_topo_new_cart(int ndims, const int dims[], const int periods[], int rank)
{
    int *ints;
    struct tern_topo *topo = tern_topo_new(TERN_TOPO_CART, 5 * (size_t)ndims, &ints);
    if (!topo)
        return NULL;
    topo->cart.ndims = ndims;
    topo->cart.dims = ints;
    topo->cart.periods = ints + ndims;
    topo->cart.coords = ints + 2 * ndims;
    topo->cart.neighbors = ints + 3 * ndims;
    for (int d = 0; d < ndims; d++) {
        topo->cart.dims[d] = dims[d];
        topo->cart.periods[d] = periods[d] != 0;
    }
    coords_of_rank(topo, rank, topo->cart.coords);
    for (int d = 0; d < ndims; d++)
        tern_topo_cart_shift(topo, d, 1, &topo->cart.neighbors[2 * d],
                             &topo->cart.neighbors[2 * d + 1]);
    return topo;
}

int tern_mpi_cart_create(struct tern_comm *comm_old, int ndims, const int dims[],
                         const int periods[], int reorder, struct tern_comm **ret_comm_cart)
{
    int places = 0, *process = NULL;
    struct tern_topo *topo = NULL;
    int rc = tern_topo_check_intra(comm_old);
    if (!rc)
        rc = check_grid(ndims, dims, comm_old->group->size, &places);
    if (!rc && reorder)
        rc = tern_topo_reorder_grid(comm_old, ndims, dims, periods, &process);
    if (rc)
        return rc;
    int rank = tern_topo_vertex_of(comm_old->group->size, process, comm_old->group->rank);
    if (rank < places && !(topo = tern_topo_new_cart(ndims, dims, periods, rank)))
        rc = tern_error(TERN_ERR_NO_MEM, "no memory for a grid of %d dimensions", ndims);
    else
        rc = tern_topo_make(comm_old, places, process, topo, ret_comm_cart);
    free(process);
    return rc;
}

/* Makes the group of the ranks that differ from this one only in the remaining dimensions, in the
 * order of their new ranks. */
static int group_of_sub(struct tern_comm *comm, const struct tern_topo *topo,
                        const int remain_dims[], struct tern_group **ret_group)
{
    const int *dims = topo->cart.dims;
    int ndims = topo->cart.ndims;
    int *coords = malloc(((size_t)ndims + 1) * sizeof *coords);
    if (!coords)
        return tern_error(TERN_ERR_NO_MEM, "no memory for %d coordinates", ndims);
    for (int d = 0; d < ndims; d++)
        coords[d] = remain_dims[d] ? 0 : topo->cart.coords[d];
    struct tern_group_builder builder;
    tern_group_builder_init(&builder);
    for (int d = 0; d >= 0;) {
        tern_group_builder_add(&builder,
                               tern_group_process(comm->group, rank_of_coords(topo, coords)));
        /* next coordinates: the last remaining dimension first */
        for (d = ndims - 1; d >= 0; d--) {
            if (!remain_dims[d])
                continue;
            if (++coords[d] < dims[d])
                break;
            coords[d] = 0;
        }
    }
    free(coords);
    return tern_group_builder_finish(&builder, ret_group);
}

static struct tern_topo *new_sub(const struct tern_topo *topo, const int remain_dims[], int rank)
{
    int ndims = topo->cart.ndims, remaining = 0;
    int *shape = malloc((2 * (size_t)ndims + 1) * sizeof *shape);
    if (!shape)
        return NULL;
    int *periods = shape + ndims;
    for (int d = 0; d < ndims; d++)
        if (remain_dims[d]) {
            shape[remaining] = topo->cart.dims[d];
            periods[remaining++] = topo->cart.periods[d];
        }
    struct tern_topo *sub = tern_topo_new_cart(remaining, shape, periods, rank);
    free(shape);
    return sub;
}

int tern_mpi_cart_sub(struct tern_comm *comm, const int remain_dims[],
                      struct tern_comm **ret_newcomm)
{
    const struct tern_topo *topo;
    struct tern_group *group;
    int rc = tern_topo_get(comm, TERN_TOPO_CART, &topo);
    if (!rc)
        rc = group_of_sub(comm, topo, remain_dims, &group);
    if (rc)
        return rc;
    struct tern_topo *sub = new_sub(topo, remain_dims, group->rank);
    if (!sub) {
        tern_group_release(group);
        return tern_error(TERN_ERR_NO_MEM, "no memory for a grid");
    }
    rc = tern_topo_make_over(comm, group, sub, ret_newcomm);
    tern_group_release(group);
    return rc;
}

int tern_mpi_cartdim_get(struct tern_comm *comm, int *ndims)
{
    const struct tern_topo *topo;
    int rc = tern_topo_get(comm, TERN_TOPO_CART, &topo);
    if (!rc)
        *ndims = topo->cart.ndims;
    return rc;
}

static int check_maxdims(const struct tern_topo *topo, int maxdims)
{
    if (maxdims >= topo->cart.ndims)
        return 0;
    return tern_error(TERN_ERR_ARG, "maxdims is %d; the grid has %d dimensions", maxdims,
                      topo->cart.ndims);
}

int tern_mpi_cart_get(struct tern_comm *comm, int maxdims, int dims[], int periods[], int coords[])
{
    const struct tern_topo *topo;
    int rc = tern_topo_get(comm, TERN_TOPO_CART, &topo);
    if (!rc)
        rc = check_maxdims(topo, maxdims);
    for (int d = 0; !rc && d < topo->cart.ndims; d++) {
        dims[d] = topo->cart.dims[d];
        periods[d] = topo->cart.periods[d];
        coords[d] = topo->cart.coords[d];
    }
    return rc;
}

int tern_mpi_cart_rank(struct tern_comm *comm, const int coords[], int *rank)
{
    const struct tern_topo *topo;
    int place = 0;
    int rc = tern_topo_get(comm, TERN_TOPO_CART, &topo);
    if (rc)
        return rc;
    for (int d = 0; d < topo->cart.ndims; d++) {
        int extent = topo->cart.dims[d];
        if (!topo->cart.periods[d] && (coords[d] < 0 || coords[d] >= extent))
            return tern_error_index(TERN_ERR_ARG, extent,
                                    "coords[%d] is %d, and dimension %d is not periodic", d,
                                    coords[d], d);
        place = place * extent + positive_modulo(coords[d], extent);
    }
    *rank = place;
    return 0;
}

int tern_mpi_cart_coords(struct tern_comm *comm, int rank, int maxdims, int coords[])
{
    const struct tern_topo *topo;
    int rc = tern_topo_get(comm, TERN_TOPO_CART, &topo);
    if (!rc && (rank < 0 || rank >= comm->group->size))
        rc = tern_error_index(TERN_ERR_RANK, comm->group->size, "rank is %d", rank);
    if (!rc)
        rc = check_maxdims(topo, maxdims);
    if (!rc)
        coords_of_rank(topo, rank, coords);
    return rc;
}

void tern_topo_cart_shift(const struct tern_topo *topo, int direction, int disp, int *ret_source,
                          int *ret_dest)
{
    int extent = topo->cart.dims[direction], here = topo->cart.coords[direction];
    int rank = rank_of_coords(topo, topo->cart.coords), step = 1;
    for (int d = direction + 1; d < topo->cart.ndims; d++)
        step *= topo->cart.dims[d];
    int *const results[] = {ret_source, ret_dest};
    for (int i = 0; i < 2; i++) {
        int64_t there = here + (i ? 1 : -1) * (int64_t)disp;
        if (topo->cart.periods[direction])
            there = positive_modulo(there, extent);
        *results[i] =
            there < 0 || there >= extent ? MPI_PROC_NULL : rank + ((int)there - here) * step;
    }
}

int tern_mpi_cart_shift(struct tern_comm *comm, int direction, int disp, int *rank_source,
                        int *rank_dest)
{
    const struct tern_topo *topo;
    int rc = tern_topo_get(comm, TERN_TOPO_CART, &topo);
    if (rc)
        return rc;
    if (direction < 0 || direction >= topo->cart.ndims)
        return tern_error(TERN_ERR_DIMS,
                          "direction is %d; the grid has %d dimensions, counted from 0", direction,
                          topo->cart.ndims);
    tern_topo_cart_shift(topo, direction, disp, rank_source, rank_dest);
    return 0;
}

int tern_mpi_cart_map(struct tern_comm *comm, int ndims, const int dims[], const int periods[],
                      int *newrank)
{
    int places = 0, vertex = 0;
    int rc = tern_topo_check_intra(comm);
    if (!rc)
        rc = check_grid(ndims, dims, comm->group->size, &places);
    if (!rc)
        rc = tern_topo_map_grid(comm, ndims, dims, periods, &vertex);
    if (!rc)
        *newrank = vertex < places ? vertex : MPI_UNDEFINED;
    return rc;
}
