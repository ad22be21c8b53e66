/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; args: 100; long-args: 1000; env: OMPI_MCA_rma_mechanism=asked */
/* win_lock_turns.c by messages. */
#include "win_lock_turns.c"
