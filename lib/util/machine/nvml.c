/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/machine/nvml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { SWITCH = 2 }; /* NVML_NVLINK_DEVICE_TYPE_SWITCH */

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

static bool loaded;

static void load_once(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&nvml.init = dlsym(library, "nvmlInit_v2");
    *(void **)&nvml.by_address = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&nvml.name = dlsym(library, "nvmlDeviceGetName");
    *(void **)&nvml.link_state = dlsym(library, "nvmlDeviceGetNvLinkState");
    *(void **)&nvml.link_remote = dlsym(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    *(void **)&nvml.link_type = dlsym(library, "nvmlDeviceGetNvLinkRemoteDeviceType");
    loaded = nvml.init && nvml.by_address && nvml.name && nvml.init() == 0;
}

static bool load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
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

int tern_nvml_linked(const char *address, uint64_t linked[TERN_GPU_LINKS], int *ret_switched)
{
    void *device;
    unsigned up;
    int count = 0;
    *ret_switched = 0;
    if (!load() || !nvml.link_state || !nvml.link_remote || nvml.by_address(address, &device))
        return 0;
    for (unsigned link = 0; link < TERN_GPU_LINKS; link++) {
        struct pci pci = {.address = ""};
        int type = -1;
        if (nvml.link_state(device, link, &up) || !up)
            continue;
        if (nvml.link_type && nvml.link_type(device, link, &type) == 0 && type == SWITCH)
            ++*ret_switched;
        else if (nvml.link_remote(device, link, &pci) == 0)
            linked[count++] = tern_gpu_address(pci.address);
    }
    return count;
}

/* Counts the links of a GPU that are up: to `other`, and to switches. */
static void count(const char *address, const char *other, int *ret_straight, int *ret_switched)
{
    uint64_t linked[TERN_GPU_LINKS], wanted = tern_gpu_address(other);
    int links = tern_nvml_linked(address, linked, ret_switched);
    *ret_straight = 0;
    for (int i = 0; i < links; i++)
        *ret_straight += linked[i] == wanted;
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
