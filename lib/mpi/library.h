/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LIBRARY_H
#define TERN_LIBRARY_H

/*
 * Starts and ends the library (MPI-4.1 chapter 11). It runs while somebody uses it: the World Model
 * between MPI_Init and MPI_Finalize, and each session. Whether it runs is asked in running.h.
 */

enum tern_library_user { TERN_USER_WORLD, TERN_USER_SESSION };

/*
 * Adds a user. The first user starts the library. Locking begins when the users' thread levels
 * (MPI_THREAD_*) need it. May be called from any thread; hold no lock. Returns 0 or TERN_ERR_*;
 * then no user was added.
 */
int tern_library_retain(enum tern_library_user user, int thread_level);

/*
 * Removes a user. The processes of the World Model call this together, and meet before they leave.
 * The last user waits until this process has handed over everything it had to send, and reports to
 * the launcher; from then on the process may exit. The library can be started again.
 */
void tern_library_release(enum tern_library_user user);

/* Looks for libraries of another MPI among the loaded objects that cannot work with this one
 * (other_mpi.c). Returns 0, or TERN_ERR_OTHER with what is wrong and its cure. */
int tern_foreign_check(void);

#endif
