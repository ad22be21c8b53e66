/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 singleton; needs: MPI_Session_create_errhandler */
/* Errors go to the handler of the session they concern, with its handle; those of making a session or a communicator from
 * a group to the handler that was given for it. Handlers are made, called and freed without any session, too. */
#include "check.h"

static int calls, codes;
static MPI_Session last_session;
static MPI_Comm last_comm;

static void on_session(MPI_Session *session, int *code, ...)
{
    calls++;
    MPI_Error_class(*code, &codes);
    last_session = *session;
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    calls++;
    MPI_Error_class(*code, &codes);
    last_comm = *comm;
}

static void check_called(int class)
{
    CHECK_INT(calls, 1);
    CHECK_INT(codes, class);
    calls = 0;
}

static void in_sessions(void)
{
    MPI_Errhandler handler, got, of_comm;
    MPI_Session session, quiet;
    MPI_Group group, all;
    MPI_Comm comm;
    MPI_Info info;
    int length = 0;
    CHECK_OK(MPI_Session_create_errhandler(on_session, &handler));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &quiet));
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://NOWHERE", &group), MPI_ERR_ARG);
    CHECK(last_session == session);
    check_called(MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, NULL), MPI_ERR_ARG);
    check_called(MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_pset_info(session, "", &info), MPI_ERR_ARG);
    check_called(MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    check_called(MPI_ERR_ARG);
    CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_TOPOLOGY));
    check_called(MPI_ERR_TOPOLOGY);

    CHECK_CLASS(MPI_Group_from_session_pset(quiet, "mpi://NOWHERE", &group), MPI_ERR_ARG);
    CHECK_OK(MPI_Session_call_errhandler(quiet, MPI_ERR_TOPOLOGY));
    CHECK_INT(calls, 0);
    CHECK_OK(MPI_Session_get_errhandler(quiet, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Session_set_errhandler(quiet, handler));
    CHECK_OK(MPI_Session_get_errhandler(quiet, &got));
    CHECK(got == handler);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Errhandler_free(&handler)); /* lives on in the sessions */
    CHECK(handler == MPI_ERRHANDLER_NULL);
    CHECK_CLASS(MPI_Group_from_session_pset(quiet, "mpi://NOWHERE", &group), MPI_ERR_ARG);
    CHECK(last_session == quiet);
    check_called(MPI_ERR_ARG);

    /* made for other objects */
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &of_comm));
    CHECK_CLASS(MPI_Session_set_errhandler(quiet, of_comm), MPI_ERR_ERRHANDLER);
    check_called(MPI_ERR_ERRHANDLER);
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Group_excl(all, 1, (int[]){0}, &group));
    int me;
    CHECK_OK(MPI_Group_rank(all, &me));
    if (me == 0 && group != MPI_GROUP_EMPTY) {
        CHECK_CLASS(MPI_Comm_create_from_group(group, "not mine", MPI_INFO_NULL, of_comm, &comm), MPI_ERR_GROUP);
        CHECK(last_comm == MPI_COMM_NULL);
        check_called(MPI_ERR_GROUP);
        CHECK_CLASS(MPI_Comm_create_from_group(group, "not mine", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_GROUP);
        CHECK_INT(calls, 0);
    }
    CHECK_OK(MPI_Errhandler_free(&of_comm));
    if (group != MPI_GROUP_EMPTY)
        CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Session_finalize(&quiet));
    CHECK_OK(MPI_Session_finalize(&session));
}

/* The session that could not be made. */
static void in_init(void)
{
    MPI_Errhandler handler;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_DOUBLE"));
    CHECK_OK(MPI_Session_create_errhandler(on_session, &handler));
    CHECK_CLASS(MPI_Session_init(info, handler, &session), MPI_ERR_INFO_VALUE);
    CHECK(last_session == MPI_SESSION_NULL);
    check_called(MPI_ERR_INFO_VALUE);
    CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, handler, NULL), MPI_ERR_ARG);
    check_called(MPI_ERR_ARG);
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Info_free(&info));
}

int main(void)
{
    MPI_Errhandler handler;
    MPI_Fint index;
    CHECK_OK(MPI_Session_create_errhandler(on_session, &handler));
    index = MPI_Errhandler_c2f(handler);
    CHECK(MPI_Errhandler_f2c(index) == handler);
    CHECK_OK(MPI_Errhandler_free(&handler));
    for (int i = 0; i < 2; i++) {
        in_init();
        in_sessions();
    }
    return 0;
}
