/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 singleton; needs: MPI_Session_init */
/* Process sets: each can be named, measured and made a group; names are cut to the room there is and their length is
 * told. */
#include "check.h"

static int find(MPI_Session session, const char *wanted)
{
    int n, found = 0;
    CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
    CHECK(n >= 2);
    for (int i = 0; i < n; i++) {
        char name[MPI_MAX_PSET_NAME_LEN], cut[6], all[MPI_MAX_PSET_NAME_LEN], value[16];
        int length = 0, room = sizeof cut, flag;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
        CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN);
        memset(name, 'x', sizeof name);
        int same = length;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &same, name));
        CHECK_INT(same, length);
        CHECK_INT(strlen(name), length - 1);
        memset(cut, 'x', sizeof cut);
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, cut));
        CHECK_INT(room, length);
        CHECK_INT(strlen(cut), sizeof cut - 1);
        CHECK(strncmp(cut, name, sizeof cut - 1) == 0);
        int larger = sizeof all;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &larger, all));
        CHECK_INT(larger, length);
        CHECK(strcmp(all, name) == 0);

        MPI_Info info;
        MPI_Group group;
        int group_size, group_rank;
        CHECK_OK(MPI_Group_from_session_pset(session, name, &group));
        CHECK_OK(MPI_Group_size(group, &group_size));
        CHECK_OK(MPI_Group_rank(group, &group_rank));
        CHECK(group_rank >= 0 && group_rank < group_size);
        CHECK_OK(MPI_Session_get_pset_info(session, name, &info));
        int value_room = sizeof value;
        CHECK_OK(MPI_Info_get_string(info, "mpi_size", &value_room, value, &flag));
        CHECK_INT(flag, 1);
        CHECK_INT(atoi(value), group_size);
        CHECK_OK(MPI_Info_free(&info));
        CHECK_OK(MPI_Group_free(&group));
        found |= strcmp(name, wanted) == 0;
    }
    return found;
}

int main(void)
{
    MPI_Session session;
    MPI_Group group;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(find(session, "mpi://WORLD"));
    CHECK(find(session, "mpi://SELF"));
    MPI_Fint index = MPI_Session_c2f(session);
    CHECK(MPI_Session_f2c(index) == session);
    CHECK(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    CHECK(index != MPI_Session_c2f(MPI_SESSION_NULL));
    /* sets are the same in all sessions; groups of two must not be compared (MPI-4.1 section 11.3) */
    MPI_Session other;
    int n[2], me[2];
    MPI_Group again;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Group_from_session_pset(other, "mpi://WORLD", &again));
    CHECK_OK(MPI_Group_size(group, &n[0]));
    CHECK_OK(MPI_Group_size(again, &n[1]));
    CHECK_INT(n[0], n[1]);
    CHECK_OK(MPI_Group_rank(group, &me[0]));
    CHECK_OK(MPI_Group_rank(again, &me[1]));
    CHECK_INT(me[0], me[1]);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&again));
    CHECK_OK(MPI_Session_finalize(&other));
    CHECK_OK(MPI_Session_finalize(&session));
    return 0;
}
