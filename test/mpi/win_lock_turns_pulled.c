/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; args: 100; long-args: 1000 */
/* win_lock_turns.c on memory of the program, which the system copies. */
static long own[2];
#define MAKE_WINDOW(memory, bytes, win)                                                            \
    CHECK_OK(MPI_Win_create(*(memory) = own, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win))
#include "win_lock_turns.c"
