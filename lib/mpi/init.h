/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_INIT_H
#define TERN_INIT_H

/*
 * Start and end of MPI (MPI-4.1 chapter 11). The library runs for as long as somebody uses it: the
 * World Model between MPI_Init and MPI_Finalize, and each session.
 */

#include <stdbool.h>

extern _Atomic int tern_library_users; /* changed with a lock, read without */

/* May communication procedures be called? The check of every entry point. */
static inline bool tern_running(void)
{
    return __atomic_load_n(&tern_library_users, __ATOMIC_RELAXED) > 0;
}

enum tern_library_user { TERN_USER_WORLD, TERN_USER_SESSION };

/*
 * One user more; the first one starts the library, and locking goes on when the users' thread
 * levels (MPI_THREAD_*) need it. From any thread, no lock held. 0 or TERN_ERR_*: then there is no
 * user more.
 */
int tern_library_retain(enum tern_library_user user, int thread_level);

/*
 * One user less. The World Model's processes come here together, and meet before they leave. The
 * last user waits until everything of this process has been handed over, and leaves the launcher in
 * peace: from then on the process may exit. The library can be started again.
 */
void tern_library_release(enum tern_library_user user);

/* Has it ever been started? */
bool tern_library_known(void);

enum tern_world {
    TERN_WORLD_BEFORE,   /* MPI_Init was not called */
    TERN_WORLD_STARTING, /* inside MPI_Init */
    TERN_WORLD_RUNNING,
    TERN_WORLD_ENDING, /* inside MPI_Finalize, after MPI_COMM_SELF's attributes were deleted */
    TERN_WORLD_ENDED,
};
extern _Atomic int tern_world;

/* The thread level of the World Model. Returns MPI_THREAD_SINGLE before MPI_Init, the level that was given after MPI_Finalize. */
int tern_world_thread_level(void);

/* "MPI_THREAD_SINGLE" ... of a level; the level of such a word, or -1. */
const char *tern_thread_level_name(int level);
int tern_thread_level_of(const char *name);

/* Looks among the loaded objects for libraries of another MPI that cannot work with ours
 * (lib/mpi/other_mpi.c). 0, or TERN_ERR_OTHER with what is wrong and its cure. */
int tern_foreign_check(void);

#endif
