/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; long: 8; args: 60; long-args: 1000; env: OMPI_MCA_rma_mechanism=asked */
/* win_random.c, where possible by this mechanism. */
#include "win_random.c"
