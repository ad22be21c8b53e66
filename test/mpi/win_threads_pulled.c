/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3; args: 100; long-args: 1000; libs: -lpthread; env: OMPI_MCA_rma_mechanism=pulled */
/* win_threads.c by copies of the system. */
#include "win_threads.c"
