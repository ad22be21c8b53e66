/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RUNNING_H
#define TERN_RUNNING_H

/*
 * Tells whether MPI runs (MPI-4.1 chapter 11). Every file of lib/mpi may ask, so this header
 * includes nothing of lib/mpi. library.c changes what stands here when the library starts and ends,
 * init.c when the World Model does.
 */

#include <stdbool.h>

/* The number of users: the World Model, if it runs, and the sessions. Changed with a lock, read
 * without one. */
extern _Atomic int tern_library_users;

/* Returns true if communication procedures may be called. Every entry point checks it. */
static inline bool tern_running(void)
{
    return __atomic_load_n(&tern_library_users, __ATOMIC_RELAXED) > 0;
}

/* True in a child made by fork of a process in which MPI runs. The child has copies of the
 * connections and of the shared memory, so only the parent may use them. */
extern bool tern_forked;

/* True if the library was ever started. */
extern bool tern_library_known;

/* The states of the World Model. */
enum tern_world {
    TERN_WORLD_BEFORE,   /* MPI_Init was not called */
    TERN_WORLD_STARTING, /* inside MPI_Init */
    TERN_WORLD_RUNNING,
    TERN_WORLD_ENDING, /* inside MPI_Finalize, after the attributes of MPI_COMM_SELF were deleted */
    TERN_WORLD_ENDED,
};
/* The state of the World Model: enum tern_world. */
extern _Atomic int tern_world;

/* The thread level of the World Model: MPI_THREAD_SINGLE before MPI_Init, then the level that
 * MPI_Init gave, also after MPI_Finalize. */
extern _Atomic int tern_world_thread_level;

/* Returns the name of a thread level: "MPI_THREAD_SINGLE" ... */
const char *tern_thread_level_name(int level);
/* Returns the thread level with this name, or -1. */
int tern_thread_level_of(const char *name);

/* Reports that `procedure` was called before MPI_Init or after MPI_Finalize, and ends the process
 * with status 1. */
_Noreturn void tern_running_refuse(const char *procedure);
/* Ends the job, because a child made by fork called the procedure. */
_Noreturn void tern_running_refuse_forked(const char *procedure);

#endif
