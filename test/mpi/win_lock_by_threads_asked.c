/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; args: 20; long-args: 1000; libs: -lpthread; env: OMPI_MCA_rma_mechanism=asked */
/* win_lock_by_threads.c by messages. */
#include "win_lock_by_threads.c"
