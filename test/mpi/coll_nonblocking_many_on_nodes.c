/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4 5 8; long: 7 9 16; needs: MPI_Bcast_init; env: OMPI_MCA_coll_ranks_per_node=3
   OMPI_MCA_coll_barrier_algorithm=hierarchical OMPI_MCA_coll_bcast_algorithm=hierarchical
   OMPI_MCA_coll_allreduce_algorithm=hierarchical OMPI_MCA_coll_reduce_algorithm=hierarchical OMPI_MCA_coll_scan_algorithm=hierarchical */
/* The same by plans of several nodes, of which each has a board: their phases share its turns. */
#include "coll_nonblocking_many.c"
