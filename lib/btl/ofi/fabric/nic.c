/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/fabric/nic.h"

#include "lib/util/machine/pci_way.h"
#include "lib/util/base/read_line.h"

#include <dirent.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATH_ROOM = PATH_MAX, LINE_MOST = 4096, NODES_MAX = 1024 };

static const char *const classes[] = {"infiniband", "cxi", "hfi1", "net"};
enum { CLASSES = sizeof classes / sizeof *classes };

/* ---- where it is ---- */

/* Returns the card's NUMA node; -1: not known. */
static int node_of(const char *root, const char *device)
{
    char path[PATH_ROOM], line[LINE_MOST];
    for (int i = 0; i < CLASSES; i++) {
        snprintf(path, sizeof path, "%s/sys/class/%s/%.200s/device/numa_node", root, classes[i],
                 device);
        if (tern_read_line(path, line, sizeof line))
            return (int)strtol(line, NULL, 10);
    }
    return -1;
}

/* Returns true if this process may run on a processor of the node. */
static bool is_ours(const char *root, int node, const cpu_set_t *cpus, size_t cpus_bytes)
{
    char path[PATH_ROOM], line[LINE_MOST];
    snprintf(path, sizeof path, "%s/sys/devices/system/node/node%d/cpulist", root, node);
    if (!tern_read_line(path, line, sizeof line))
        return false;
    for (char *at = line; *at >= '0' && *at <= '9'; at += *at == ',') {
        long first = strtol(at, &at, 10), last = first;
        if (*at == '-')
            last = strtol(at + 1, &at, 10);
        for (long cpu = first; cpu <= last; cpu++)
            if (CPU_ISSET_S((size_t)cpu, cpus_bytes, cpus))
                return true;
    }
    return false;
}

/* Returns the mean of the distances from `node` to the nodes of this process. Each node's file has
 * a number for each node, in their order. */
static int mean_distance(const char *root, int node, const cpu_set_t *cpus, size_t cpus_bytes)
{
    char path[PATH_ROOM], line[LINE_MOST];
    long sum = 0, count = 0;
    snprintf(path, sizeof path, "%s/sys/devices/system/node/node%d/distance", root, node);
    if (!tern_read_line(path, line, sizeof line))
        return 0;
    char *at = line;
    for (int other = 0; other < NODES_MAX; other++) {
        snprintf(path, sizeof path, "%s/sys/devices/system/node/node%d", root, other);
        if (access(path, F_OK))
            continue; /* numbers may have gaps */
        char *end;
        long distance = strtol(at, &end, 10);
        if (end == at)
            break;
        at = end;
        if (is_ours(root, other, cpus, cpus_bytes)) {
            sum += distance;
            count++;
        }
    }
    return count ? (int)(sum / count) : 0;
}

int tern_ofi_nic_distance(const char *root, const char *device)
{
    enum { CPUS_MAX = 8192 };
    cpu_set_t *cpus = CPU_ALLOC(CPUS_MAX);
    size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    int node = node_of(root, device), distance = 0;
    if (cpus && node >= 0 && sched_getaffinity(0, bytes, cpus) == 0)
        distance = mean_distance(root, node, cpus, bytes);
    CPU_FREE(cpus);
    return distance;
}

static int weigh(int distance)
{
    enum { UNKNOWN = 15 }; /* the kernel's distances are 10 within a node and 20 or so beyond */
    return distance ? distance : UNKNOWN;
}

int tern_ofi_nic_device_distance(const char *root, const char *device, const char *address)
{
    enum { NEAREST = 10, STEP = 10 }; /* as between NUMA nodes: one unknown is behind the nearest */
    struct tern_pci_way card, gpu;
    char path[PATH_ROOM];
    bool found = false;
    for (int i = 0; i < CLASSES && !found; i++) {
        snprintf(path, sizeof path, "/sys/class/%s/%.200s/device", classes[i], device);
        found = tern_pci_find(root, path, &card);
    }
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.20s", address);
    if (!found || !tern_pci_find(root, path, &gpu))
        return 0;
    return NEAREST + STEP * (int)tern_pci_reach(&card, &gpu);
}

uint32_t tern_ofi_nics_nearest(const int *distances, uint32_t count)
{
    int least = INT_MAX;
    uint32_t nearest = 0;
    for (uint32_t i = 0; i < count; i++)
        if (weigh(distances[i]) < least)
            least = weigh(distances[i]);
    for (uint32_t i = 0; i < count; i++)
        if (weigh(distances[i]) == least)
            nearest |= 1u << i;
    return nearest;
}

void tern_ofi_nics_order(const int *distances, uint32_t count, uint32_t before, uint32_t *ret_order)
{
    uint32_t done = 0;
    for (int least = 0; done < count;) {
        int next = INT_MAX;
        uint32_t alike = 0, from = done;
        for (uint32_t i = 0; i < count; i++)
            if (weigh(distances[i]) > least && weigh(distances[i]) < next)
                next = weigh(distances[i]);
        for (uint32_t i = 0; i < count; i++)
            alike += weigh(distances[i]) == next;
        for (uint32_t i = 0, seen = 0; i < count; i++)
            if (weigh(distances[i]) == next)
                ret_order[from + (seen++ + alike - before % alike) % alike] = i;
        done += alike;
        least = next;
    }
}

/* ---- its link ---- */

/* Returns 1 if the interface has a link, 0 if not, -1 if there is no such interface. Asks by a
 * socket, because /sys may show the interfaces of another network namespace. */
static int interface_is_up(const char *name)
{
    struct ifreq ask = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || strlen(name) >= sizeof ask.ifr_name) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    memcpy(ask.ifr_name, name, strlen(name) + 1);
    int rc = ioctl(fd, SIOCGIFFLAGS, &ask);
    close(fd);
    if (rc)
        return -1;
    return (ask.ifr_flags & IFF_UP) && (ask.ifr_flags & IFF_RUNNING);
}

/* Returns 1 if a port of the InfiniBand or RoCE card is active, 0 if none is, -1 if there is no
 * such card. */
static int ports_are_up(const char *device)
{
    char path[PATH_ROOM], line[LINE_MOST];
    int up = -1;
    snprintf(path, sizeof path, "/sys/class/infiniband/%.200s/ports", device);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "/sys/class/infiniband/%.200s/ports/%.20s/state", device,
                 entry->d_name);
        if (entry->d_name[0] == '.' || !tern_read_line(path, line, sizeof line))
            continue;
        up = up == 1 || strstr(line, "ACTIVE") != NULL;
    }
    if (dir)
        closedir(dir);
    return up;
}

bool tern_ofi_nic_is_up(const char *device)
{
    int up = ports_are_up(device);
    return (up < 0 ? interface_is_up(device) : up) != 0;
}
