/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 singleton; long: 16; needs: MPI_Comm_create_from_group */
/* Communicators from groups without a parent: of all, of some, in another order, several with different string tags, the
 * same tag again and again, with MPI_Init and without; the given error handler and hints are theirs. */
#include "check.h"

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

static void check_comm(MPI_Comm comm, MPI_Group group)
{
    MPI_Group own, both;
    int relation, n, me, sum = 0, group_rank, group_size;
    CHECK(comm != MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_group(comm, &own));
    CHECK_OK(MPI_Group_compare(own, group, &relation));
    CHECK_INT(relation, MPI_IDENT);
    CHECK_OK(MPI_Group_union(own, group, &both)); /* they are of one session */
    CHECK_OK(MPI_Group_free(&both));
    CHECK_OK(MPI_Group_free(&own));
    CHECK_OK(MPI_Comm_size(comm, &n));
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK_OK(MPI_Group_size(group, &group_size));
    CHECK_OK(MPI_Group_rank(group, &group_rank));
    CHECK_INT(n, group_size);
    CHECK_INT(me, group_rank);
    CHECK_OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, n * (n - 1) / 2);
}

static MPI_Comm make(MPI_Group group, const char *tag)
{
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    return comm;
}

static void all_kinds(MPI_Group all)
{
    MPI_Comm comm, again, part, derived;
    MPI_Group some;
    char longest[MPI_MAX_STRINGTAG_LEN];
    int n, me;
    CHECK_OK(MPI_Group_size(all, &n));
    CHECK_OK(MPI_Group_rank(all, &me));
    for (int i = 0; i < 10; i++) {
        comm = make(all, "again");
        check_comm(comm, all);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    comm = make(all, "");
    again = make(all, "");
    check_comm(again, all);
    check_comm(comm, all);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    MPI_Comm third = make(all, longest);
    check_comm(third, all);
    CHECK_OK(MPI_Comm_free(&third));
    CHECK_OK(MPI_Comm_free(&again));

    CHECK_OK(MPI_Group_range_incl(all, 1, (int[][3]){{n - 1, 0, -1}}, &some)); /* backwards */
    part = make(some, "back");
    check_comm(part, some);
    CHECK_OK(MPI_Comm_split(part, me % 2, 0, &derived));
    CHECK_OK(MPI_Barrier(derived));
    CHECK_OK(MPI_Comm_free(&derived));
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_OK(MPI_Group_free(&some));

    /* Those of even rank and those of odd rank at the same time, with the same tag. */
    CHECK_OK(MPI_Group_range_incl(all, 1, (int[][3]){{me % 2, n - 1, 2}}, &some));
    part = make(some, "half");
    check_comm(part, some);
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_OK(MPI_Group_free(&some));

    check_comm(comm, all);
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK_OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "nobody", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK(comm == MPI_COMM_NULL);
}

static void properties(MPI_Group all)
{
    MPI_Errhandler handler, own;
    MPI_Info info;
    MPI_Comm comm;
    char value[8] = "";
    int flag = 0, code;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    CHECK_OK(MPI_Comm_create_errhandler(handle, &handler));
    CHECK_OK(MPI_Comm_create_from_group(all, "properties", info, handler, &comm));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Errhandler_free(&handler));
    code = MPI_Send(NULL, -1, MPI_INT, 0, 0, comm);
    CHECK_CLASS(code, MPI_ERR_COUNT);
    CHECK_INT(handled, 1);
    CHECK_OK(MPI_Comm_get_errhandler(comm, &own));
    CHECK_OK(MPI_Errhandler_free(&own));
    CHECK_OK(MPI_Comm_get_info(comm, &info));
    CHECK_OK(MPI_Info_get(info, "mpi_assert_no_any_tag", sizeof value - 1, value, &flag));
    CHECK_INT(flag, 1);
    CHECK(strcmp(value, "true") == 0);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_free(&comm));
    handled = 0;
}

static void in_session(void)
{
    MPI_Session session;
    MPI_Group all;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    all_kinds(all);
    properties(all);
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    MPI_Group all;
    for (int i = 0; i < 3; i++)
        in_session();
    start(&argc, &argv);
    in_session();
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all)); /* of the World Model */
    all_kinds(all);
    properties(all);
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Finalize());
    for (int i = 0; i < 2; i++)
        in_session();
    return 0;
}
