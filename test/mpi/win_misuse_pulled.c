/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3; env: OMPI_MCA_rma_mechanism=pulled */
/* win_misuse.c by the system's copies. */
#include "win_misuse.c"
