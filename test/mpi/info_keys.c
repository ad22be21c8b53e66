/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Info objects keep keys in order, cut values to the caller's room, duplicate, delete, refuse. */
#include "check.h"

static void expect(MPI_Info info, const char *key, const char *expected)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int flag = -1, length = -1;
    CHECK_OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag));
    CHECK_INT(flag, expected != NULL);
    if (expected != NULL)
        CHECK_STRING(value, expected);
    CHECK_OK(MPI_Info_get_valuelen(info, key, &length, &flag));
    CHECK_INT(flag, expected != NULL);
    if (expected != NULL)
        CHECK_INT(length, strlen(expected));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    MPI_Info info, copy;
    int n, flag;
    char key[MPI_MAX_INFO_KEY + 1], value[8], longer[MPI_MAX_INFO_KEY + 10];
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_get_nkeys(info, &n));
    CHECK_INT(n, 0);
    CHECK_OK(MPI_Info_set(info, "host", "alpha"));
    CHECK_OK(MPI_Info_set(info, "arch", "x"));
    CHECK_OK(MPI_Info_set(info, "path", "/a:/b c = d;"));
    CHECK_OK(MPI_Info_set(info, "host", "omega"));
    CHECK_OK(MPI_Info_get_nkeys(info, &n));
    CHECK_INT(n, 3);
    expect(info, "host", "omega");
    expect(info, "arch", "x");
    expect(info, "path", "/a:/b c = d;");
    expect(info, "nothing", NULL);
    expect(info, "HOST", NULL);
    /* All keys come once each. */
    int seen = 0;
    for (int i = 0; i < n; i++) {
        CHECK_OK(MPI_Info_get_nthkey(info, i, key));
        seen |= strcmp(key, "host") == 0 ? 1 : strcmp(key, "arch") == 0 ? 2 : 4;
    }
    CHECK_INT(seen, 7);
    /* Too little room: the value is cut and still ends. */
    memset(value, '#', sizeof value);
    CHECK_OK(MPI_Info_get(info, "host", 3, value, &flag));
    CHECK_INT(flag, 1);
    CHECK_STRING(value, "ome");
    CHECK_INT(value[4], '#');
    CHECK_OK(MPI_Info_dup(info, &copy));
    CHECK_OK(MPI_Info_delete(info, "arch"));
    expect(info, "arch", NULL);
    expect(copy, "arch", "x");
    CHECK_CLASS(MPI_Info_delete(info, "arch"), MPI_ERR_INFO_NOKEY);
    memset(longer, 'k', sizeof longer);
    longer[sizeof longer - 1] = 0;
    CHECK_CLASS(MPI_Info_set(info, longer, "v"), MPI_ERR_INFO_KEY);
    CHECK_CLASS(MPI_Info_set(info, "", "v"), MPI_ERR_INFO_KEY);
    CHECK(MPI_Info_get_nthkey(info, 50, key) != MPI_SUCCESS);
    CHECK_CLASS(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
    CHECK_OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
    CHECK_OK(MPI_Info_free(&copy));
    /* Values of the longest allowed length. */
    char *big = allocate(MPI_MAX_INFO_VAL);
    memset(big, 'v', MPI_MAX_INFO_VAL - 1);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "big", big));
    expect(info, "big", big);
    CHECK_OK(MPI_Info_free(&info));
    free(big);
    return end();
}
