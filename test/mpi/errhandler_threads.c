/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; libs: -lpthread; needs: MPI_Session_init */
/* Threads raise errors on a communicator and a session whose handlers another thread replaces and frees meanwhile: each
 * error reaches one of them, and none that is gone (MPI-4.1 section 9.3). */
#include "check.h"

#include <pthread.h>

enum { RAISERS = 3, EACH = 4000 };

static MPI_Comm comm;
static MPI_Session session;
static int calls, done; /* atomic */

static void on_comm(MPI_Comm *where, int *code, ...)
{
    if (*where == comm && *code == MPI_ERR_TAG)
        __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static void on_session(MPI_Session *where, int *code, ...)
{
    if (*where == session && *code == MPI_ERR_INFO)
        __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

/* What was set before is nobody's then, and its memory used again. */
static void *replace(void *unused)
{
    MPI_Errhandler errhandler;
    while (__atomic_load_n(&done, __ATOMIC_RELAXED) < RAISERS) {
        CHECK_OK(MPI_Comm_create_errhandler(on_comm, &errhandler));
        CHECK_OK(MPI_Comm_set_errhandler(comm, errhandler));
        CHECK_OK(MPI_Errhandler_free(&errhandler));
        CHECK_OK(MPI_Session_create_errhandler(on_session, &errhandler));
        CHECK_OK(MPI_Session_set_errhandler(session, errhandler));
        CHECK_OK(MPI_Errhandler_free(&errhandler));
    }
    return unused;
}

static void *raise_errors(void *unused)
{
    for (int i = 0; i < EACH; i++) {
        CHECK_CLASS(MPI_Send(NULL, 0, MPI_BYTE, 0, -5, comm), MPI_ERR_TAG);
        CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_TAG));
        CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_INFO));
    }
    __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[1 + RAISERS];
    MPI_Errhandler errhandler;
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &errhandler));
    CHECK_OK(MPI_Comm_set_errhandler(comm, errhandler));
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    CHECK_OK(MPI_Session_create_errhandler(on_session, &errhandler));
    CHECK_OK(MPI_Session_set_errhandler(session, errhandler));
    CHECK_OK(MPI_Errhandler_free(&errhandler));

    for (int i = 0; i <= RAISERS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, i ? raise_errors : replace, NULL), 0);
    for (int i = 0; i <= RAISERS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(calls, 3 * RAISERS * EACH);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    return end();
}
