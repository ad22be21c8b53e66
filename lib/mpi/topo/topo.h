/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOPO_H
#define TERN_TOPO_H

/* Process topologies (MPI-4.1 chapter 8). */

#include "lib/mpi/object/topo_data.h"

#include <stdbool.h>

struct tern_comm;
struct tern_group;
struct tern_neighbors;

/* Makes a grid. `rank` is this process's place in it. Returns NULL if there is no memory. */
struct tern_topo *tern_topo_new_cart(int ndims, const int dims[], const int periods[], int rank);

/* Finds the topology of `comm`. Returns 0, or TERN_ERR_TOPOLOGY if it is not of this kind. */
int tern_topo_get(const struct tern_comm *comm, enum tern_topo_kind kind,
                  const struct tern_topo **ret_topo);
/* Returns TERN_ERR_COMM for an intercommunicator, else 0. */
int tern_topo_check_intra(const struct tern_comm *comm);

/* Makes a communicator with topology `topo` of the processes process[0 .. places-1]: ranks in
 * `comm`; NULL means ranks 0, 1, ... The other ranks pass NULL for `topo` and get NULL. Takes
 * ownership of `topo`, also on failure. Collective; blocks. */
int tern_topo_make(struct tern_comm *comm, int places, const int process[], struct tern_topo *topo,
                   struct tern_comm **ret_comm);
/* Does what tern_topo_make does, for any group. A process that gets no communicator passes NULL for
 * `group` and `topo`. */
int tern_topo_make_over(struct tern_comm *comm, struct tern_group *group, struct tern_topo *topo,
                        struct tern_comm **ret_comm);

/* Finds the ranks at distance -disp and disp from this process along dimension `direction`. */
void tern_topo_cart_shift(const struct tern_topo *topo, int direction, int disp, int *ret_source,
                          int *ret_dest);

/* Finds the processes that this process talks to in neighbourhood collectives. A grid has two
 * neighbours per dimension, MPI_PROC_NULL where it ends. The arrays belong to the topology. Returns
 * 0, or TERN_ERR_TOPOLOGY if `comm` has no topology. */
int tern_topo_neighbors(const struct tern_comm *comm, struct tern_neighbors *ret_neighbors);

#endif
