/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; args: 100; long-args: 3000; env: OMPI_MCA_rma_mechanism=asked */
/* win_counter.c by another mechanism. */
#include "win_counter.c"
