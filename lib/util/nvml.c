/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

enum { LINKS = 18, SWITCH = 2 }; /* SWITCH: NVML_NVLINK_DEVICE_TYPE_SWITCH */

/* nvmlPciInfo_t */
struct pci {
    char address_short[16];
    unsigned domain, bus, device, pci_device, pci_subsystem;
    char address[32];
};

static struct {
    int (*init)(void);
    int (*by_address)(const char *, void **);
    int (*name)(void *, char *, unsigned);
    int (*link_state)(void *, unsigned, unsigned *);
    int (*link_remote)(void *, unsigned, struct pci *);
    int (*link_type)(void *, unsigned, int *);
} nvml;

static bool load(void)
{
    static bool tried, loaded;
    void *library = tried ? NULL : dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    tried = true;
    if (!library)
        return loaded;
    *(void **)&nvml.init = dlsym(library, "nvmlInit_v2");
    *(void **)&nvml.by_address = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&nvml.name = dlsym(library, "nvmlDeviceGetName");
    *(void **)&nvml.link_state = dlsym(library, "nvmlDeviceGetNvLinkState");
    *(void **)&nvml.link_remote = dlsym(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    *(void **)&nvml.link_type = dlsym(library, "nvmlDeviceGetNvLinkRemoteDeviceType");
    loaded = nvml.init && nvml.by_address && nvml.name && nvml.init() == 0;
    return loaded;
}

void tern_nvml_name(const char *address, char *name, size_t room)
{
    void *device;
    char found[96];
    if (load() && nvml.by_address(address, &device) == 0 &&
        nvml.name(device, found, sizeof found) == 0)
        snprintf(name, room, "%s", found);
}

/* Returns true if two addresses are one: domains have four or eight digits. */
static bool same(const char *one, const char *other)
{
    unsigned a[4], b[4];
    return sscanf(one, "%x:%x:%x.%x", &a[0], &a[1], &a[2], &a[3]) == 4 &&
           sscanf(other, "%x:%x:%x.%x", &b[0], &b[1], &b[2], &b[3]) == 4 && a[0] == b[0] &&
           a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

/* Counts the links of a GPU that are up: to `other`, and to switches. */
static void count(const char *address, const char *other, int *ret_straight, int *ret_switched)
{
    void *device;
    unsigned up;
    *ret_straight = *ret_switched = 0;
    if (!load() || !nvml.link_state || !nvml.link_remote || nvml.by_address(address, &device))
        return;
    for (unsigned link = 0; link < LINKS; link++) {
        struct pci pci = {.address = ""};
        int type = -1;
        if (nvml.link_state(device, link, &up) || !up)
            continue;
        if (nvml.link_remote(device, link, &pci) == 0 && same(pci.address, other))
            ++*ret_straight;
        else if (nvml.link_type && nvml.link_type(device, link, &type) == 0 && type == SWITCH)
            ++*ret_switched;
    }
}

int tern_nvml_links(const char *one, const char *other)
{
    int straight, switched, back, others;
    count(one, other, &straight, &switched);
    if (straight)
        return straight;
    count(other, one, &back, &others);
    return switched < others ? switched : others;
}
