/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LIBRARY_H
#define TERN_LIBRARY_H

/*
 * Starts and ends the library (MPI-4.1 chapter 11). The library runs while it has a user: the World
 * Model between MPI_Init and MPI_Finalize, or a session. running.h tells whether it runs.
 */

/* Who uses the library. */
enum tern_library_user { TERN_USER_WORLD, TERN_USER_SESSION };

/*
 * Adds a user. The first user starts the library. Locking begins when the thread levels of the
 * users (MPI_THREAD_*) need it. Any thread may call it; hold no lock. Returns 0 or TERN_ERR_*;
 * after an error no user was added.
 */
int tern_library_retain(enum tern_library_user user, int thread_level);

/*
 * Removes a user. The processes of the World Model call it together, and wait for each other before
 * they leave. For the last user, waits until this process has handed over everything that it had to
 * send, and reports to the launcher. After that the process may exit. The library can be started
 * again.
 */
void tern_library_release(enum tern_library_user user);

/* Looks among the loaded libraries for libraries of another MPI that cannot work with this one
 * (other_mpi.c). Returns 0, or TERN_ERR_OTHER with a text that says what is wrong and how to cure
 * it. */
int tern_foreign_check(void);

#endif
