/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8; needs: MPI_Intercomm_create_from_groups */
/* Intercommunicators from two groups without a parent: any leaders, several tags, again and again; the remote group is
 * looked at on the leader only. */
#include "check.h"

static MPI_Group all, own, other;
static int own_size, other_size, me;

/* Even ranks against odd ones, backwards. */
static void make_groups(MPI_Session session)
{
    int n, in_world;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Group_size(all, &n));
    CHECK_OK(MPI_Group_rank(all, &in_world));
    rank = in_world;
    size = n;
    int last[2] = {n - 1 - (n - 1) % 2, n % 2 ? n - 2 : n - 1};
    for (int side = 0; side < 2; side++)
        CHECK_OK(MPI_Group_range_incl(all, 1, (int[][3]){{last[side], side, -2}}, side == rank % 2 ? &own : &other));
    CHECK_OK(MPI_Group_size(own, &own_size));
    CHECK_OK(MPI_Group_size(other, &other_size));
    CHECK_OK(MPI_Group_rank(own, &me));
}

static void check_inter(MPI_Comm *inter)
{
    MPI_Group group;
    MPI_Comm merged;
    int flag = 0, n, relation, sum = 0, expected = 0;
    CHECK_OK(MPI_Comm_test_inter(*inter, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Comm_size(*inter, &n));
    CHECK_INT(n, own_size);
    CHECK_OK(MPI_Comm_remote_group(*inter, &group));
    CHECK_OK(MPI_Group_compare(group, other, &relation));
    CHECK_INT(relation, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, *inter));
    for (int i = 1 - rank % 2; i < size; i += 2)
        expected += i;
    CHECK_INT(sum, expected);
    CHECK_OK(MPI_Intercomm_merge(*inter, rank % 2, &merged));
    CHECK_OK(MPI_Comm_size(merged, &n));
    CHECK_INT(n, size);
    CHECK_OK(MPI_Comm_free(&merged));
    CHECK_OK(MPI_Comm_disconnect(inter));
}

static MPI_Comm make(int leader, int remote_leader, const char *tag)
{
    MPI_Comm inter;
    CHECK_OK(MPI_Intercomm_create_from_groups(own, leader, me == leader ? other : MPI_GROUP_NULL,
                                              me == leader ? remote_leader : -5, tag, MPI_INFO_NULL,
                                              MPI_ERRORS_ARE_FATAL, &inter));
    return inter;
}

int main(void)
{
    MPI_Session session;
    MPI_Comm inter, second, local;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    make_groups(session);
    for (int i = 0; i < own_size || i < other_size; i++) {
        inter = make(i % own_size, i % other_size, "again");
        check_inter(&inter);
    }
    inter = make(0, 0, "first");
    second = make(own_size - 1, other_size - 1, "second");
    /* the same tag for a communicator of the local group is something else */
    CHECK_OK(MPI_Comm_create_from_group(own, "first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &local));
    CHECK_OK(MPI_Barrier(local));
    CHECK_OK(MPI_Comm_free(&local));
    check_inter(&second);
    check_inter(&inter);
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Group_free(&own));
    CHECK_OK(MPI_Group_free(&other));
    CHECK_OK(MPI_Session_finalize(&session));
    return 0;
}
