/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_Comm_split_type: who shares what with me. Everything that goes by nodes is known from the
 * start of the job. For parts of a node the kernel's lists in /sys tell which processors belong
 * together; a process counts as being on a cache, core, ... when all processors it may run on
 * belong to that one. A process that is not bound so closely shares nothing for certain and gets a
 * communicator of its own.
 */

#include "lib/mpi/comm.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* No part of the node is known to be shared. */
enum { ALONE = -1 };

/* Reads a kernel list of processors, such as "0-3,8". */
static bool read_cpu_list(const char *path, cpu_set_t *ret_cpus)
{
    char line[4096];
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool read = fgets(line, sizeof line, file);
    fclose(file);
    CPU_ZERO(ret_cpus);
    for (char *at = line; read && *at >= '0' && *at <= '9';) {
        long first = strtol(at, &at, 10), last = first;
        if (*at == '-')
            last = strtol(at + 1, &at, 10);
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET(cpu, ret_cpus);
        if (*at == ',')
            at++;
    }
    return read;
}

static int first_cpu(const cpu_set_t *cpus)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, cpus))
            return cpu;
    return ALONE;
}

/* The processors that share a cache of this level with `cpu`. */
static bool cache_cpus(int cpu, int level, cpu_set_t *ret_cpus)
{
    char path[256], type;
    for (int index = 0; index < 16; index++) {
        int found = 0;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu,
                 index);
        FILE *file = fopen(path, "re");
        if (!file)
            return false;
        if (fscanf(file, "%d", &found) != 1)
            found = 0;
        fclose(file);
        if (found != level)
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/type", cpu, index);
        file = fopen(path, "re");
        type = file ? (char)fgetc(file) : 'I';
        if (file)
            fclose(file);
        if (type == 'I') /* an instruction cache */
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list",
                 cpu, index);
        return read_cpu_list(path, ret_cpus);
    }
    return false;
}

static bool numa_cpus(int cpu, cpu_set_t *ret_cpus)
{
    char path[256];
    for (int node = 0; node < CPU_SETSIZE; node++) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
        if (read_cpu_list(path, ret_cpus) && CPU_ISSET(cpu, ret_cpus))
            return true;
    }
    return false;
}

static bool topology_cpus(int cpu, const char *list, cpu_set_t *ret_cpus)
{
    char path[256];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, list);
    return read_cpu_list(path, ret_cpus);
}

/* The processors of the part of the node, named by split_type, that `cpu` belongs to. */
static bool part_of_node(int split_type, int cpu, cpu_set_t *ret_cpus)
{
    switch (split_type) {
    case OMPI_COMM_TYPE_HWTHREAD:
        CPU_ZERO(ret_cpus);
        CPU_SET(cpu, ret_cpus);
        return true;
    case OMPI_COMM_TYPE_CORE:
        return topology_cpus(cpu, "core_cpus_list", ret_cpus) ||
               topology_cpus(cpu, "thread_siblings_list", ret_cpus);
    case OMPI_COMM_TYPE_L1CACHE:
        return cache_cpus(cpu, 1, ret_cpus);
    case OMPI_COMM_TYPE_L2CACHE:
        return cache_cpus(cpu, 2, ret_cpus);
    case OMPI_COMM_TYPE_L3CACHE:
        return cache_cpus(cpu, 3, ret_cpus);
    case OMPI_COMM_TYPE_NUMA:
        return numa_cpus(cpu, ret_cpus);
    default: /* OMPI_COMM_TYPE_SOCKET */
        return topology_cpus(cpu, "package_cpus_list", ret_cpus) ||
               topology_cpus(cpu, "core_siblings_list", ret_cpus);
    }
}

/* First processor of the one part that holds all processors this process may run on, or ALONE. */
static int shared_part(int split_type)
{
    cpu_set_t mine, part, outside;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0)
        return ALONE;
    int cpu = first_cpu(&mine);
    if (cpu == ALONE || !part_of_node(split_type, cpu, &part))
        return ALONE;
    CPU_OR(&outside, &mine, &part);
    return CPU_EQUAL(&outside, &part) ? first_cpu(&part) : ALONE;
}

int tern_comm_locality(int split_type, int *ret_color)
{
    switch (split_type) {
    case MPI_UNDEFINED:
        *ret_color = MPI_UNDEFINED;
        return 0;
    case MPI_COMM_TYPE_SHARED: /* OMPI_COMM_TYPE_NODE is the same number */
    case OMPI_COMM_TYPE_HOST:
    case OMPI_COMM_TYPE_BOARD:
        *ret_color = (int)tern_rte.node;
        return 0;
    case OMPI_COMM_TYPE_CLUSTER:
    case OMPI_COMM_TYPE_CU: /* nothing is known about cabinets: one cluster, one unit */
        *ret_color = 0;
        return 0;
    case OMPI_COMM_TYPE_HWTHREAD:
    case OMPI_COMM_TYPE_CORE:
    case OMPI_COMM_TYPE_L1CACHE:
    case OMPI_COMM_TYPE_L2CACHE:
    case OMPI_COMM_TYPE_L3CACHE:
    case OMPI_COMM_TYPE_SOCKET:
    case OMPI_COMM_TYPE_NUMA: {
        int part = shared_part(split_type);
        /* Two ranges of colours: those who are alone, and (node, part). */
        *ret_color = part == ALONE ? (int)tern_rte.rank
                                   : (int)(tern_rte.size + tern_rte.node * CPU_SETSIZE) + part;
        return 0;
    }
    default:
        return tern_error(TERN_ERR_ARG,
                          "split_type is %d, which is none of MPI_COMM_TYPE_* and OMPI_COMM_TYPE_*",
                          split_type);
    }
}
