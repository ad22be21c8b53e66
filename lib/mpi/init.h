/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_INIT_H
#define TERN_INIT_H

/* Start and end of the library (MPI-4.1 chapter 11). */

#include <stdbool.h>

enum tern_state {
    TERN_STATE_BEFORE,   /* MPI_Init was not called */
    TERN_STATE_STARTING, /* inside MPI_Init */
    TERN_STATE_RUNNING,
    TERN_STATE_ENDING,   /* inside MPI_Finalize, after MPI_COMM_SELF's attributes were deleted */
    TERN_STATE_ENDED,
};
extern volatile int tern_state;

/* May communication procedures be called? The check of every entry point. */
static inline bool tern_running(void)
{
    return tern_state == TERN_STATE_RUNNING;
}

/* Looks among the loaded objects for libraries of another MPI that cannot work with ours
 * (lib/mpi/foreign.c). 0, or TERN_ERR_OTHER with what is wrong and its cure. */
int tern_foreign_check(void);

#endif
