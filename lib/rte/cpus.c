/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The number of processors that this process may use. The affinity mask says which; the cpu quota
 * of the control groups says how much of them (version 2: cpu.max, version 1: cpu.cfs_quota_us and
 * cpu.cfs_period_us). A container with a quota of two processors on a machine of 64 shows all 64 in
 * its mask, and a library that spins on all of them is throttled.
 *
 * Each group from the process's own up to the root has a limit, and all limits hold, so the
 * smallest counts. Inside a container the path in /proc/self/cgroup may be the host's, while only
 * the container's part is mounted. So paths that do not exist are skipped, and the root of the
 * mount is always read.
 */

#include "lib/rte/cpus.h"

#include "lib/rte/rte.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, CPUS_MAX = 1 << 16 };

static int affinity_cpus(void)
{
    for (int cpus = 1024; cpus <= CPUS_MAX; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        size_t size = CPU_ALLOC_SIZE(cpus);
        if (!set)
            break;
        int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static bool read_line(const char *path, char *line, int room)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool ok = fgets(line, room, file);
    fclose(file);
    return ok;
}

static int whole_cpus(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return INT_MAX;
    long long cpus = quota / period;
    return cpus < 1 ? 1 : cpus > INT_MAX ? INT_MAX : (int)cpus;
}

static int quota_of_group(int version, const char *directory)
{
    char path[PATH_ROOM + 32], line[128];
    long long quota, period;

    if (version == 2) {
        snprintf(path, sizeof path, "%s/cpu.max", directory);
        if (!read_line(path, line, sizeof line) || sscanf(line, "%lld %lld", &quota, &period) != 2)
            return INT_MAX; /* no such file, or "max 100000" */
        return whole_cpus(quota, period);
    }
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
    if (!read_line(path, line, sizeof line) || sscanf(line, "%lld", &quota) != 1)
        return INT_MAX;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    if (!read_line(path, line, sizeof line) || sscanf(line, "%lld", &period) != 1)
        return INT_MAX;
    return whole_cpus(quota, period);
}

/* Returns the smallest quota from mount/group up to the mount itself. */
static int quota_upwards(int version, const char *mount, const char *group)
{
    char directory[PATH_ROOM];
    int least = INT_MAX;
    size_t mount_length = strlen(mount);

    if (strstr(group, "..") ||
        snprintf(directory, sizeof directory, "%s%s", mount, group) >= (int)sizeof directory)
        directory[0] = 0; /* the group is outside of what this process can see */
    while (strlen(directory) > mount_length) {
        int quota = quota_of_group(version, directory);
        if (quota < least)
            least = quota;
        *strrchr(directory, '/') = 0;
    }
    int quota = quota_of_group(version, mount);
    return quota < least ? quota : least;
}

/* Returns true if `name` is one of the comma-separated words. */
static bool has_word(const char *words, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = words; (at = strstr(at, name)); at += length)
        if ((at == words || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

int tern_rte_quota_cpus(const char *root)
{
    static const char *const mounts_v1[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    char path[PATH_ROOM], line[PATH_ROOM];
    int least = INT_MAX;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return INT_MAX;
    while (fgets(line, sizeof line, file)) { /* "4:cpu,cpuacct:/group" or "0::/group" */
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers++ = 0;
        *group++ = 0;
        if (!*controllers) {
            snprintf(path, sizeof path, "%s/sys/fs/cgroup", root);
            int quota = quota_upwards(2, path, group);
            least = quota < least ? quota : least;
        } else if (has_word(controllers, "cpu")) {
            for (size_t i = 0; i < sizeof mounts_v1 / sizeof *mounts_v1; i++) {
                snprintf(path, sizeof path, "%s%s", root, mounts_v1[i]);
                int quota = quota_upwards(1, path, group);
                least = quota < least ? quota : least;
            }
        }
    }
    fclose(file);
    return least;
}

int tern_rte_cpus(void)
{
    int cpus = affinity_cpus(), quota = tern_rte_quota_cpus("");
    return quota < cpus ? quota : cpus;
}
