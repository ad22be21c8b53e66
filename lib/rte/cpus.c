/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The processors that this process may use. The affinity mask says which; the cpu quota of the
 * control groups says how much of them (version 2: cpu.max, version 1: cpu.cfs_quota_us and
 * cpu.cfs_period_us). A container with a quota of two processors on a machine of 64 shows all 64 in
 * its mask, and a library that spins on all of them is throttled (lib/pml/budget.h).
 *
 * Each group from the process's own up to the root has a limit, and all limits hold, so the
 * tightest counts. Inside a container the path in /proc/self/cgroup may be the host's, while only
 * the container's part is mounted. So paths that do not exist are skipped, and the root of the
 * mount is always read.
 */

#include "lib/rte/cpus.h"

#include "lib/util/base/read_line.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, CPUS_MAX = 1 << 16 };

int tern_rte_cpus(void)
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

static const struct tern_rte_quota no_quota;

/* Returns the limit that permits less processor time. */
static struct tern_rte_quota tighter(struct tern_rte_quota a, struct tern_rte_quota b)
{
    if (!a.quota_us || !b.quota_us)
        return a.quota_us ? a : b;
    double part_a = (double)a.quota_us / (double)a.period_us;
    double part_b = (double)b.quota_us / (double)b.period_us;
    return part_a <= part_b ? a : b;
}

static struct tern_rte_quota quota_of_group(int version, const char *directory)
{
    char path[PATH_ROOM + 32], line[128];
    long long quota, period;

    if (version == 2) {
        snprintf(path, sizeof path, "%s/cpu.max", directory);
        if (!tern_read_line(path, line, sizeof line) ||
            sscanf(line, "%lld %lld", &quota, &period) != 2)
            return no_quota; /* no such file, or "max 100000" */
    } else {
        snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
        if (!tern_read_line(path, line, sizeof line) || sscanf(line, "%lld", &quota) != 1)
            return no_quota;
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
        if (!tern_read_line(path, line, sizeof line) || sscanf(line, "%lld", &period) != 1)
            return no_quota;
    }
    if (quota <= 0 || period <= 0)
        return no_quota;
    return (struct tern_rte_quota){quota, period};
}

/* Returns the tightest limit from mount/group up to the mount itself. */
static struct tern_rte_quota quota_upwards(int version, const char *mount, const char *group)
{
    char directory[PATH_ROOM];
    struct tern_rte_quota least = no_quota;
    size_t mount_length = strlen(mount);

    if (strstr(group, "..") ||
        snprintf(directory, sizeof directory, "%s%s", mount, group) >= (int)sizeof directory)
        directory[0] = 0; /* the group is outside of what this process can see */
    while (strlen(directory) > mount_length) {
        least = tighter(least, quota_of_group(version, directory));
        *strrchr(directory, '/') = 0;
    }
    return tighter(least, quota_of_group(version, mount));
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

struct tern_rte_quota tern_rte_read_quota(const char *root)
{
    static const char *const mounts_v1[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    char path[PATH_ROOM], line[PATH_ROOM];
    struct tern_rte_quota least = no_quota;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return no_quota;
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
            least = tighter(least, quota_upwards(2, path, group));
        } else if (has_word(controllers, "cpu")) {
            for (size_t i = 0; i < sizeof mounts_v1 / sizeof *mounts_v1; i++) {
                snprintf(path, sizeof path, "%s%s", root, mounts_v1[i]);
                least = tighter(least, quota_upwards(1, path, group));
            }
        }
    }
    fclose(file);
    return least;
}
