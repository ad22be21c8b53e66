/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/hosts/this_machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "mpirun/base/strings.h"

int tern_quota_from_period(long long quota_us, long long period_us)
{
    if (quota_us <= 0 || period_us <= 0)
        return 0;
    long long whole = (quota_us + period_us / 2) / period_us;
    return whole < 1 ? 1 : whole > TERN_MAX_CPUS ? TERN_MAX_CPUS : (int)whole;
}

int tern_quota_from_max(const char *cpu_max)
{
    long long quota_us, period_us;
    if (sscanf(cpu_max, "%lld %lld", &quota_us, &period_us) != 2)
        return 0;
    return tern_quota_from_period(quota_us, period_us);
}

static int read_quota(const char *root, const char *group, bool version2)
{
    char path[1200], text[64] = "", period[64] = "";
    snprintf(path, sizeof path, "%s%s/%s", root, group, version2 ? "cpu.max" : "cpu.cfs_quota_us");
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(text, sizeof text, file))
        text[0] = '\0';
    fclose(file);
    if (version2)
        return tern_quota_from_max(text);
    snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", root, group);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(period, sizeof period, file))
        period[0] = '\0';
    fclose(file);
    return tern_quota_from_period(atoll(text), atoll(period));
}

/* Returns the tightest limit of this process's control group and the groups around it; 0 if there
 * is none. Cuts `group` up. */
static int tightest_quota(const char *root, char *group, bool version2)
{
    int tightest = 0;
    for (;;) {
        int quota = read_quota(root, group, version2);
        if (quota && (!tightest || quota < tightest))
            tightest = quota;
        char *slash = strrchr(group, '/');
        if (!slash)
            return tightest;
        *slash = '\0';
    }
}

static int cpu_quota(void)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return 0;
    char line[1024];
    int tightest = 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
        if (!group)
            continue;
        *names++ = '\0';
        *group++ = '\0';
        int quota = 0;
        if (*names == '\0')
            quota = tightest_quota("/sys/fs/cgroup", group, true);
        else if (strcmp(names, "cpu") == 0 || strncmp(names, "cpu,", 4) == 0 ||
                 strstr(names, ",cpu,"))
            quota = tightest_quota("/sys/fs/cgroup/cpu", group, false);
        if (quota && (!tightest || quota < tightest))
            tightest = quota;
    }
    fclose(file);
    return tightest;
}

/* Returns the logical number of the object of `type` that contains the processor, or -1. */
static int object_around(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_type_t type)
{
    if (type != HWLOC_OBJ_NUMANODE) {
        hwloc_obj_t around = hwloc_get_ancestor_obj_by_type(topology, type, pu);
        return around ? (int)around->logical_index : -1;
    }
    hwloc_obj_t node = NULL, nearest = NULL;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node))) {
        if (node->cpuset && hwloc_bitmap_isset(node->cpuset, pu->os_index) &&
            (!nearest || hwloc_bitmap_weight(node->cpuset) < hwloc_bitmap_weight(nearest->cpuset)))
            nearest = node;
    }
    return nearest ? (int)nearest->logical_index : -1;
}

/* Renumbers the objects of a level 0, 1, ... in order of appearance, because some objects may
 * contain none of the job's processors. */
static void number_level(struct tern_host *host, enum tern_map_level level)
{
    int *seen = tern_must_alloc(host->cpu_count * sizeof *seen), count = 0;
    for (int i = 0; i < host->cpu_count; i++) {
        int at = 0;
        while (at < count && seen[at] != host->cpus[i].id[level])
            at++;
        if (at == count)
            seen[count++] = host->cpus[i].id[level];
        host->cpus[i].id[level] = at;
    }
    free(seen);
}

static const hwloc_obj_type_t types[] = {
    [TERN_MAP_LEVEL_CORE] = HWLOC_OBJ_CORE,     [TERN_MAP_LEVEL_L1] = HWLOC_OBJ_L1CACHE,
    [TERN_MAP_LEVEL_L2] = HWLOC_OBJ_L2CACHE,    [TERN_MAP_LEVEL_L3] = HWLOC_OBJ_L3CACHE,
    [TERN_MAP_LEVEL_NUMA] = HWLOC_OBJ_NUMANODE, [TERN_MAP_LEVEL_SOCKET] = HWLOC_OBJ_PACKAGE,
};

enum tern_map_level tern_topology_stand_in(hwloc_topology_t topology, enum tern_map_level level)
{
    if (level < TERN_MAP_LEVEL_L1 || level >= TERN_MAP_LEVEL_NODE)
        return level;
    while (level < TERN_MAP_LEVEL_NODE && hwloc_get_nbobjs_by_type(topology, types[level]) <= 0)
        level++;
    return level;
}

void tern_topology_record(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                          struct tern_host *host)
{
    int pus = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    host->cpus = tern_must_alloc((pus > 0 ? pus : 1) * sizeof *host->cpus);
    host->cpu_count = 0;
    for (int i = 0; i < pus; i++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, i);
        if ((allowed && !hwloc_bitmap_isset(allowed, pu->os_index)) ||
            pu->os_index >= TERN_MAX_CPUS)
            continue;
        struct tern_cpu *cpu = &host->cpus[host->cpu_count++];
        cpu->os_index = (int)pu->os_index;
        /* If the machine has no object of a level, the object of the next wider level stands for
         * it. Without cores, each hardware thread counts as one. */
        for (int level = TERN_MAP_LEVEL_SOCKET; level > TERN_MAP_LEVEL_HWTHREAD; level--) {
            int id = object_around(topology, pu, types[level]);
            if (id < 0)
                id = level == TERN_MAP_LEVEL_CORE     ? i
                     : level == TERN_MAP_LEVEL_SOCKET ? 0
                                                  : cpu->id[level + 1];
            cpu->id[level] = id;
        }
        cpu->id[TERN_MAP_LEVEL_HWTHREAD] = i;
    }
    if (!host->cpu_count) {
        host->cpu_count = 1;
        host->cpus[0] = (struct tern_cpu){ 0 };
    }
    for (int level = TERN_MAP_LEVEL_HWTHREAD; level < TERN_MAP_LEVEL_NODE; level++)
        number_level(host, level);
}

/* Loads the topology without hwloc's plugins, which look for devices. They load the libraries of
 * OpenCL and X11, which are not wanted in mpirun and take as long as everything else, and find
 * nothing that is needed here. */
static int load_without_plugins(hwloc_topology_t *ret_topology)
{
    static const char path[] = "HWLOC_PLUGINS_PATH";
    bool wanted = getenv(path) || getenv("HWLOC_XMLFILE"); /* a plugin may read that file */
    if (!wanted)
        setenv(path, "/nonexistent", 1);
    int failed = hwloc_topology_init(ret_topology) < 0 || hwloc_topology_load(*ret_topology) < 0;
    if (!wanted)
        unsetenv(path);
    return failed ? -1 : 0;
}

/* Checks the machine that hwloc shall pretend. hwloc ignores a description that it cannot read, and
 * silently takes the real machine. */
static int check_pretended(void)
{
    const char *file = getenv("HWLOC_XMLFILE"), *text = getenv("HWLOC_SYNTHETIC");
    hwloc_topology_t topology;
    int error = 0;
    bool by_file = file && *file, by_text = text && *text;
    if (!by_file && !by_text)
        return 0;
    if (by_file && access(file, R_OK) < 0 && strcmp(file, "-"))
        return tern_error(TERN_ERR_ARG,
                          "HWLOC_XMLFILE names %s, which cannot be read: %s; expected a file that "
                          "`lstopo FILE.xml` wrote. Correct the variable or unset it",
                          file, strerror(errno));
    if (hwloc_topology_init(&topology) < 0)
        return tern_error(TERN_ERR_OTHER, "hwloc cannot start");
    if (by_file && hwloc_topology_set_xml(topology, file) < 0)
        error = tern_error(TERN_ERR_ARG,
                           "HWLOC_XMLFILE names %s, which describes no machine; expected a file "
                           "that `lstopo FILE.xml` wrote. Correct the variable or unset it",
                           file);
    else if (by_text && hwloc_topology_set_synthetic(topology, text) < 0)
        error = tern_error(TERN_ERR_ARG,
                           "HWLOC_SYNTHETIC is \"%s\", which describes no machine; expected words "
                           "such as `package:2 core:4 pu:2`. Correct the variable or unset it",
                           text);
    hwloc_topology_destroy(topology);
    return error;
}

/* Adds the processors of object number `index` of a type. Returns false if there is none. */
static bool add_object(hwloc_topology_t topology, hwloc_obj_type_t type, long index,
                       hwloc_bitmap_t listed)
{
    if (index < 0 || index >= hwloc_get_nbobjs_by_type(topology, type))
        return false;
    hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, (unsigned)index);
    hwloc_bitmap_or(listed, listed, object->cpuset);
    return true;
}

/* Keeps of `allowed` what the list names. */
static int keep_listed(hwloc_topology_t topology, const char *cpu_list, hwloc_bitmap_t allowed)
{
    bool threads = strncmp(cpu_list, TERN_CPU_LIST_THREADS, strlen(TERN_CPU_LIST_THREADS)) == 0;
    const char *text = cpu_list + (threads ? strlen(TERN_CPU_LIST_THREADS) : 0), *at = text;
    threads |= hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) <= 0;
    hwloc_obj_type_t type = threads ? HWLOC_OBJ_PU : HWLOC_OBJ_CORE;
    hwloc_bitmap_t listed = hwloc_bitmap_alloc();
    int error = 0;
    do {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        bool good = end > at && first >= 0;
        if (good && *end == '-') {
            at = end + 1;
            last = strtol(at, &end, 10);
            good = end > at && last >= first;
        }
        if (!good || (*end && *end != ','))
            error = tern_error(TERN_ERR_ARG, "--cpu-set needs numbers such as 0-3,8, not \"%s\"",
                               text);
        for (long index = first; !error && index <= last; index++)
            if (!add_object(topology, type, index, listed))
                error = tern_error(TERN_ERR_ARG,
                                   "--cpu-set %s: there is no %s %ld; this machine has %d", text,
                                   threads ? "hardware thread" : "core", index,
                                   hwloc_get_nbobjs_by_type(topology, type));
        at = end + (*end == ',');
    } while (!error && *at);
    hwloc_bitmap_and(allowed, allowed, listed);
    hwloc_bitmap_free(listed);
    if (!error && hwloc_bitmap_iszero(allowed))
        error = tern_error(TERN_ERR_ARG, "this job may use none of the cores \"%s\" on this host",
                           text);
    return error;
}

int tern_topology_read(const char *cpu_list, struct tern_host *ret_host,
                       hwloc_topology_t *ret_topology)
{
    hwloc_topology_t topology;
    int error = check_pretended();
    if (error)
        return error;
    if (load_without_plugins(&topology) < 0)
        return tern_error(TERN_ERR_OTHER, "hwloc cannot read this machine's processors");
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    if (!allowed || hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) < 0 ||
        hwloc_bitmap_iszero(allowed))
        hwloc_bitmap_copy(allowed, hwloc_topology_get_allowed_cpuset(topology));
    error = cpu_list ? keep_listed(topology, cpu_list, allowed) : 0;
    if (error) {
        hwloc_bitmap_free(allowed);
        hwloc_topology_destroy(topology);
        return error;
    }
    struct tern_host host = { 0 };
    tern_topology_record(topology, allowed, &host);
    hwloc_bitmap_free(allowed);
    gethostname(host.name, sizeof host.name - 1);
    host.cpu_limit = hwloc_topology_is_thissystem(topology) ? cpu_quota() : 0;
    *ret_host = host;
    *ret_topology = topology;
    return 0;
}
