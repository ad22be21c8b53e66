/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 singleton; needs: MPI_Get_hw_resource_info */
/* MPI_Get_hw_resource_info says of each kind of hardware whether this process is bound to one of it at
 * the moment of the call: a process on one processor is bound to one of every kind, and whoever is
 * bound to a narrow part is to the wider ones. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

static int bound(MPI_Info info, const char *key)
{
    char value[8];
    int flag, length = sizeof value;
    CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
    if (!flag)
        return -1;
    CHECK(strcmp(value, "true") == 0 || strcmp(value, "false") == 0);
    return value[0] == 't';
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"hwloc://PU", "hwloc://Core", "hwloc://Package",
                                        "hwloc://Machine"};
    cpu_set_t mine, one;
    MPI_Info info;
    int n, before = 0;
    start(&argc, &argv);
    CHECK_OK(MPI_Get_hw_resource_info(&info));
    CHECK_OK(MPI_Info_get_nkeys(info, &n));
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        CHECK_OK(MPI_Info_get_nthkey(info, i, key));
        CHECK(strstr(key, "://") != NULL);
        CHECK(bound(info, key) >= 0);
    }
    CHECK_INT(bound(info, "hwloc://Machine"), 1);
    for (int i = 0; i < 4; i++) {
        int now = bound(info, kinds[i]);
        CHECK(now < 0 || now >= before);
        before = now < 0 ? before : now;
    }
    CHECK_INT(sched_getaffinity(0, sizeof mine, &mine), 0);
    CHECK_INT(bound(info, "hwloc://PU"), CPU_COUNT(&mine) == 1);
    CHECK_OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);

    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &mine))
            CPU_SET(cpu, &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_OK(MPI_Get_hw_resource_info(&info));
    CHECK_OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n >= 2);
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        CHECK_OK(MPI_Info_get_nthkey(info, i, key));
        CHECK_INT(bound(info, key), 1);
    }
    CHECK_OK(MPI_Info_free(&info));
    return end();
}
