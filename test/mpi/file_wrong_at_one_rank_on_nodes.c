/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4; env: OMPI_MCA_coll_ranks_per_node=2 */
/* file_wrong_at_one_rank.c as on nodes of two ranks: the common pointer is at rank 0. */
#include "file_wrong_at_one_rank.c"
