/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; needs: MPI_Session_init */
/* Supported memory kinds are said by MPI_INFO_ENV, sessions and every communicator, with one value;
 * "mpi" and "system" are always among them; users cannot change them, and their assertion about a
 * communicator is theirs. */
#include "check.h"

#define KEY "mpi_memory_alloc_kinds"

static char env[MPI_MAX_INFO_VAL + 1];

static int find(MPI_Info info, const char *key, char *value)
{
    int length = MPI_MAX_INFO_VAL, flag;
    CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
    return flag;
}

static int lists(const char *kinds, const char *kind)
{
    char copy[MPI_MAX_INFO_VAL + 1], *rest = copy, *word;
    strcpy(copy, kinds);
    while ((word = strsep(&rest, ",")))
        if (strcmp(word, kind) == 0)
            return 1;
    return 0;
}

static void same_on(MPI_Comm comm)
{
    char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    CHECK_OK(MPI_Comm_get_info(comm, &info));
    CHECK(find(info, KEY, value));
    CHECK(strcmp(value, env) == 0);
    CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Session session;
    char value[MPI_MAX_INFO_VAL + 1];
    start(&argc, &argv);
    CHECK(find(MPI_INFO_ENV, KEY, env));
    CHECK(lists(env, "mpi"));
    CHECK(lists(env, "system"));
    CHECK(lists(env, "mpi:alloc_mem"));
    same_on(MPI_COMM_WORLD);
    same_on(MPI_COMM_SELF);

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, KEY, "nonsense"));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    same_on(comm);
    CHECK_OK(MPI_Comm_set_info(comm, info));
    same_on(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm));
    same_on(comm);
    CHECK_OK(MPI_Comm_free(&comm));

    CHECK_OK(MPI_Info_set(info, KEY, "system,nonsense,mpi:alloc_mem"));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_get_info(session, &info));
    CHECK(find(info, KEY, value));
    CHECK(lists(value, "system"));
    CHECK(lists(value, "mpi:alloc_mem"));
    CHECK(!lists(value, "nonsense"));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_finalize(&session));
    return end();
}
