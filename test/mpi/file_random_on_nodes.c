/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4; long: 8; args: 30; long-args: 1000; limit: 600; env: OMPI_MCA_coll_ranks_per_node=2 */
/* file_random.c as on nodes of two ranks: aggregators are chosen by node, and atomic mode has its
 * lock at rank 0. */
#include "file_random.c"
