/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 singleton; needs: MPI_Session_init */
/* Sessions start and end any number of times, before, beside and after MPI_Init .. MPI_Finalize, and none of that
 * changes what MPI_Initialized and MPI_Finalized say of the World Model. */
#include "check.h"

static void check_world(int initialized, int finalized)
{
    int flag = -1;
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_INT(flag, initialized);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_INT(flag, finalized);
}

static MPI_Session begin(const char *level)
{
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", level));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK(session != MPI_SESSION_NULL);
    return session;
}

static void end_session(MPI_Session *session)
{
    CHECK_OK(MPI_Session_finalize(session));
    CHECK(*session == MPI_SESSION_NULL);
}

/* A session answers, whatever else there is. */
static void use(MPI_Session session)
{
    MPI_Group group, self;
    int n, me, relation;
    char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, flag = 0;
    MPI_Info info;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    CHECK_OK(MPI_Group_size(group, &n));
    CHECK_OK(MPI_Group_rank(group, &me));
    if (getenv("TEST_RANKS"))
        CHECK_INT(n, atoi(getenv("TEST_RANKS")) ? atoi(getenv("TEST_RANKS")) : 1);
    CHECK(me >= 0 && me < n);
    int mine = me;
    MPI_Group only_me;
    CHECK_OK(MPI_Group_incl(group, 1, &mine, &only_me));
    CHECK_OK(MPI_Group_compare(only_me, self, &relation));
    CHECK_INT(relation, MPI_IDENT);
    CHECK_OK(MPI_Session_get_info(session, &info));
    CHECK_OK(MPI_Info_get_string(info, "thread_level", &length, value, &flag));
    CHECK_INT(flag, 1);
    CHECK(strncmp(value, "MPI_THREAD_", 11) == 0);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_free(&only_me));
    CHECK_OK(MPI_Group_free(&self));
    CHECK_OK(MPI_Group_free(&group));
}

static void once(const char *level)
{
    MPI_Session session = begin(level);
    use(session);
    end_session(&session);
}

int main(int argc, char **argv)
{
    MPI_Session a, b, c;
    check_world(0, 0);
    for (int i = 0; i < 3; i++)
        once(i == 1 ? "MPI_THREAD_SINGLE" : "MPI_THREAD_MULTIPLE");
    check_world(0, 0);

    a = begin("MPI_THREAD_FUNNELED");
    b = begin("MPI_THREAD_SERIALIZED");
    use(a);
    end_session(&a);
    use(b);
    start(&argc, &argv);
    check_world(1, 0);
    int sum = 0, one = 1;
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size);
    c = begin("MPI_THREAD_MULTIPLE");
    use(c);
    end_session(&b);
    once("MPI_THREAD_SINGLE");
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size);
    CHECK_OK(MPI_Finalize());
    check_world(1, 1);

    use(c);
    end_session(&c);
    for (int i = 0; i < 5; i++)
        once("MPI_THREAD_MULTIPLE");
    check_world(1, 1);
    return 0;
}
