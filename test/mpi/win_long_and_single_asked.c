/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; args: 40; long-args: 500; env: OMPI_MCA_rma_mechanism=asked */
/* win_long_and_single.c by another mechanism. */
#include "win_long_and_single.c"
