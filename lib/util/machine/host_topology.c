/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/machine/host_topology.h"

#include "lib/util/base/log.h"
#include "lib/util/machine/nvml.h"
#include "lib/util/machine/pci_way.h"
#include "lib/util/base/read_line.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES = 64, NODES = 1024, TEXT = 256, LINE = 4096 };

/* A GPU or a network card. */
struct device {
    bool gpu;
    char name[TEXT]; /* as the user knows it */
    struct tern_pci_way way;
};

struct host {
    const char *root;
    struct device devices[DEVICES];
    int count;
};

/* Reads the first line of a file. Returns false if there is none. */
static bool read_line(char line[LINE], const char *root, const char *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
    return length < (int)sizeof path && tern_read_line(path, line, LINE);
}

static const char *address_of(const struct device *device)
{
    return tern_pci_address(&device->way);
}

/* Adds the device behind a link of /sys, unless it is there. Returns it, or NULL. */
static struct device *add(struct host *host, const char *link)
{
    struct device *device = &host->devices[host->count];
    if (host->count == DEVICES)
        return NULL;
    *device = (struct device){0};
    if (!tern_pci_find(host->root, link, &device->way))
        return NULL;
    host->count++;
    return device;
}

static int compare(const void *one, const void *other)
{
    const struct device *a = one, *b = other;
    return a->gpu != b->gpu ? b->gpu - a->gpu : strcmp(address_of(a), address_of(b));
}

/* Adds the GPUs: display and 3D controllers, and accelerators, of the makers of such. */
static void add_gpus(struct host *host)
{
    static const struct {
        const char *id, *name;
    } makers[] = {{"0x10de", "NVIDIA"}, {"0x1002", "AMD"}, {"0x8086", "Intel"}};
    static const char folder[] = "/sys/bus/pci/devices";
    char path[PATH_MAX], class[LINE], vendor[LINE], model[LINE];
    snprintf(path, sizeof path, "%s%s", host->root, folder);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || !read_line(class, host->root, path, "class") ||
            !read_line(vendor, host->root, path, "vendor") ||
            !read_line(model, host->root, path, "device") ||
            (strncmp(class, "0x0302", 6) && strncmp(class, "0x0300", 6) &&
             strncmp(class, "0x0380", 6) && strncmp(class, "0x12", 4)))
            continue;
        for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
            struct device *device = strcmp(vendor, makers[i].id) == 0 ? add(host, path) : NULL;
            if (!device)
                continue;
            device->gpu = true;
            snprintf(device->name, sizeof device->name, "%s %.12s", makers[i].name, model);
            tern_nvml_name(address_of(device), device->name, sizeof device->name);
        }
    }
    if (dir)
        closedir(dir);
}

/* Adds the devices of a class of /sys/class. One card may be in several classes. */
static void add_cards(struct host *host, const char *class)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/sys/class/%s", host->root, class);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/sys/class/%s/%s/device", class, entry->d_name);
        struct device *device = add(host, path);
        for (int i = 0; device && i < host->count - 1; i++)
            if (!host->devices[i].gpu && strcmp(host->devices[i].way.way, device->way.way) == 0) {
                struct device *same = &host->devices[i];
                size_t used = strlen(same->name);
                snprintf(same->name + used, sizeof same->name - used, ", %s", entry->d_name);
                host->count--;
                device = NULL;
            }
        if (device)
            snprintf(device->name, sizeof device->name, "%s", entry->d_name);
    }
    if (dir)
        closedir(dir);
}

/* Prints the devices of a NUMA node. */
static void show_devices(const struct host *host, int node)
{
    for (int i = 0; i < host->count; i++) {
        const struct device *device = &host->devices[i];
        char folder[PATH_MAX], speed[LINE] = "", width[LINE] = "";
        if (device->way.node != node)
            continue;
        snprintf(folder, sizeof folder, "/sys/bus/pci/devices/%s", address_of(device));
        bool link = read_line(speed, host->root, folder, "current_link_speed") &&
                    read_line(width, host->root, folder, "current_link_width");
        tern_log("topology:     %s %s: %s%s%.40s%s%.8s", device->gpu ? "GPU" : "network card",
                 address_of(device), device->name, link ? ", " : "", speed, link ? " x " : "",
                 width);
    }
}

/* Says how two devices reach each other. */
static const char *say_way(const struct device *one, const struct device *other)
{
    static const char *const words[] = {[TERN_PCI_SWITCH] = "by a switch",
                                        [TERN_PCI_ROOT] = "by a root of the bus",
                                        [TERN_PCI_NODE] = "within a NUMA node",
                                        [TERN_PCI_FAR] = "between NUMA nodes"};
    return words[tern_pci_reach(&one->way, &other->way)];
}

/* Prints the ways from each GPU to the other devices. */
static void show_ways(const struct host *host)
{
    for (int i = 0; i < host->count; i++)
        for (int k = 0; k < host->count && host->devices[i].gpu; k++) {
            const struct device *one = &host->devices[i], *other = &host->devices[k];
            char links[32] = "";
            if (k == i || (other->gpu && k < i))
                continue;
            int count = other->gpu ? tern_nvml_links(address_of(one), address_of(other)) : 0;
            if (count)
                snprintf(links, sizeof links, ", %d NVLink", count);
            tern_log("topology: %s to %s: %s%s", address_of(one), address_of(other),
                     say_way(one, other), links);
        }
}

/* Returns the memory of a NUMA node in MiB; -1: not known. */
static long memory_of(const char *root, const char *folder)
{
    char line[LINE];
    long kib = -1;
    return read_line(line, root, folder, "meminfo") &&
                   sscanf(line, "Node %*d MemTotal: %ld kB", &kib) == 1
               ? kib / 1024
               : -1;
}

void tern_host_topology_show(const char *root)
{
    struct host *host = calloc(1, sizeof *host);
    char name[TEXT] = "", line[LINE];
    int nodes = 0;
    if (!host)
        return;
    host->root = root;
    gethostname(name, sizeof name - 1);
    add_gpus(host);
    add_cards(host, "infiniband");
    add_cards(host, "cxi");
    add_cards(host, "hfi1");
    add_cards(host, "net");
    qsort(host->devices, (size_t)host->count, sizeof *host->devices, compare);
    tern_log("topology: host %s", name);
    for (int node = 0; node < NODES; node++) {
        char folder[TEXT];
        snprintf(folder, sizeof folder, "/sys/devices/system/node/node%d", node);
        if (!read_line(line, root, folder, "cpulist"))
            continue;
        long memory = memory_of(root, folder);
        if (memory >= 0)
            tern_log("topology:   NUMA node %d: processors %s; %ld MiB", node, line, memory);
        else
            tern_log("topology:   NUMA node %d: processors %s", node, line);
        show_devices(host, node);
        nodes++;
    }
    if (!nodes)
        tern_log("topology:   the kernel tells no NUMA nodes");
    for (int i = 0, unknown = 0; i < host->count; i++)
        if (host->devices[i].way.node < 0 && !unknown++ && nodes != 1)
            tern_log("topology:   devices whose NUMA node the kernel does not tell:");
    show_devices(host, -1);
    show_ways(host);
    free(host);
}
