/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3; env: OMPI_MCA_rma_mechanism=asked */
/* win_misuse.c by messages. */
#include "win_misuse.c"
