/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: singleton 1 3; needs: MPI_Info_create_env */
/* MPI_Info_create_env makes what MPI_INFO_ENV holds, key by key, before MPI_Init, between it and
 * MPI_Finalize, and afterwards; only the thread level is known no earlier than MPI_Init_thread has
 * been told it. */
#include "check.h"

static void value_of(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL])
{
    int flag, length = MPI_MAX_INFO_VAL;
    CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
    if (!flag)
        FAIL("there is no key \"%s\"", key);
}

/* `level` is the thread level that `info` must tell. */
static void compare(MPI_Info info, MPI_Info other, const char *level)
{
    int n, others;
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL], expected[MPI_MAX_INFO_VAL];
    CHECK_OK(MPI_Info_get_nkeys(info, &n));
    CHECK_OK(MPI_Info_get_nkeys(other, &others));
    for (int i = 0; i < others; i++) {
        CHECK_OK(MPI_Info_get_nthkey(other, i, key));
        value_of(info, key, value);
        if (strcmp(key, "thread_level") == 0)
            strcpy(expected, level);
        else
            value_of(other, key, expected);
        CHECK_STRING(value, expected);
    }
    CHECK_INT(n, others);
}

static MPI_Info create(int argc, char **argv)
{
    MPI_Info info = MPI_INFO_NULL;
    CHECK_OK(MPI_Info_create_env(argc, argv, &info));
    return info;
}

int main(int argc, char **argv)
{
    static const char *const keys[] = {"command", "maxprocs", "soft",        "host",
                                       "arch",    "wdir",     "thread_level"};
    char value[MPI_MAX_INFO_VAL];
    int provided;
    MPI_Info before = create(argc, argv), world, after;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        value_of(before, keys[i], value);

    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
    check_ranks();
    value_of(MPI_INFO_ENV, "maxprocs", value);
    CHECK_INT(atoi(value), size);
    compare(before, MPI_INFO_ENV, "MPI_THREAD_SINGLE");
    after = create(argc, argv);
    compare(after, MPI_INFO_ENV, "MPI_THREAD_SERIALIZED");
    CHECK_OK(MPI_Info_free(&after));
    CHECK_OK(MPI_Info_dup(MPI_INFO_ENV, &world));
    CHECK_OK(MPI_Finalize());

    after = create(argc, argv);
    compare(after, world, "MPI_THREAD_SERIALIZED");
    CHECK_OK(MPI_Info_free(&before));
    CHECK_OK(MPI_Info_free(&world));
    CHECK_OK(MPI_Info_free(&after));
    return 0;
}
