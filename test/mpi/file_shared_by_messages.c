/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; long: 8; args: 60; long-args: 1000; env: OMPI_MCA_coll_ranks_per_node=1 */
/* file_shared.c as on nodes of one rank: rank 0 has the common pointer and the lock, and the others
 * ask it. */
#include "file_shared.c"
