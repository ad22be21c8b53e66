/* SPDX-License-Identifier: BSD-3-Clause */

/* The error handlers of communicators, windows and sessions: creates, sets, gets and calls them
 * (MPI-4.1 section 9.3). */

#include "lib/mpi/object/comm.h"
#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/raise_next.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/object/session.h"
#include "lib/mpi/win/win.h"

int tern_mpi_comm_create_errhandler(MPI_Comm_errhandler_function *function,
                                    struct tern_errhandler **ret_errhandler)
{
    int rc = tern_errhandler_new(TERN_ERRHANDLER_COMM, ret_errhandler);
    if (!rc)
        (*ret_errhandler)->function.comm = function;
    return rc;
}

int tern_mpi_comm_set_errhandler(struct tern_comm *comm, struct tern_errhandler *errhandler)
{
    return tern_errhandler_put(TERN_ERRHANDLER_COMM, &comm->errhandler, errhandler);
}

int tern_mpi_comm_get_errhandler(struct tern_comm *comm, struct tern_errhandler **ret_errhandler)
{
    *ret_errhandler = tern_errhandler_retain(
        comm->errhandler ? comm->errhandler : &tern_errhandler_errors_are_fatal);
    return 0;
}

int tern_mpi_comm_call_errhandler(struct tern_comm *comm, int errorcode)
{
    (void)comm;
    return tern_raise_as_asked(errorcode);
}

int tern_mpi_win_create_errhandler(MPI_Win_errhandler_function *function,
                                   struct tern_errhandler **ret_errhandler)
{
    int rc = tern_errhandler_new(TERN_ERRHANDLER_WIN, ret_errhandler);
    if (!rc)
        (*ret_errhandler)->function.win = function;
    return rc;
}

int tern_mpi_win_set_errhandler(struct tern_win *win, struct tern_errhandler *errhandler)
{
    return tern_errhandler_put(TERN_ERRHANDLER_WIN, &win->errhandler, errhandler);
}

int tern_mpi_win_get_errhandler(struct tern_win *win, struct tern_errhandler **ret_errhandler)
{
    *ret_errhandler = tern_errhandler_retain(win->errhandler);
    return 0;
}

int tern_mpi_win_call_errhandler(struct tern_win *win, int errorcode)
{
    (void)win;
    return tern_raise_as_asked(errorcode);
}

int tern_mpi_session_create_errhandler(MPI_Session_errhandler_function *function,
                                       struct tern_errhandler **ret_errhandler)
{
    int rc = tern_errhandler_new(TERN_ERRHANDLER_SESSION, ret_errhandler);
    if (!rc)
        (*ret_errhandler)->function.session = function;
    return rc;
}

int tern_mpi_session_set_errhandler(struct tern_session *session,
                                    struct tern_errhandler *errhandler)
{
    return tern_errhandler_put(TERN_ERRHANDLER_SESSION, &session->errhandler, errhandler);
}

int tern_mpi_session_get_errhandler(struct tern_session *session,
                                    struct tern_errhandler **ret_errhandler)
{
    *ret_errhandler = tern_errhandler_retain(session->errhandler);
    return 0;
}

int tern_mpi_session_call_errhandler(struct tern_session *session, int errorcode)
{
    (void)session;
    return tern_raise_as_asked(errorcode);
}
