/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8; needs: MPI_Bcast_init; env: OMPI_MCA_coll_board=0 */
/* coll_persistent_any_order without the board: all collectives go by messages. */
#include "coll_persistent_any_order.c"
