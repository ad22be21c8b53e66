/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A library for test programs: where the fake driver's devices are. Folders of /sys are looked for
 * below $FAKE_SYS. It also plays NVIDIA's management library (its SONAME is that
 * library's): $FAKE_NVLINK has pairs of devices that are joined, such as "02,13"; with "all" each
 * leads to a switch.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BUS = 0x1a }; /* of the fake driver's devices */

char *realpath(const char *path, char *room)
{
    char *(*real)(const char *, char *);
    const char *root = getenv("FAKE_SYS");
    char below[PATH_MAX];
    *(void **)&real = dlvsym(RTLD_NEXT, "realpath", "GLIBC_2.3");
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "realpath");
    if (!root || strncmp(path, "/sys/bus/pci/devices/", 21) != 0)
        return real(path, room);
    snprintf(below, sizeof below, "%s%s", root, path);
    return real(below, room);
}

char *__realpath_chk(const char *path, char *room, size_t bytes)
{
    return bytes < PATH_MAX ? NULL : realpath(path, room);
}

/* nvmlPciInfo_t */
struct pci {
    char address_short[16];
    unsigned domain, bus, device, pci_device, pci_subsystem;
    char address[32];
};

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **ret_device)
{
    unsigned bus;
    if (sscanf(address, "%*x:%x:", &bus) != 1 || bus < FIRST_BUS)
        return 2;
    *ret_device = (void *)(uintptr_t)(bus - FIRST_BUS + 1);
    return 0;
}

int nvmlDeviceGetName(void *device, char *name, unsigned room)
{
    snprintf(name, room, "Fake GPU %d", (int)(uintptr_t)device - 1);
    return 0;
}

/* Returns the device at the other end of a link; -1: a switch; -2: there is no such link. */
static int other_end(void *device, unsigned link)
{
    const char *pairs = getenv("FAKE_NVLINK");
    char self = (char)('0' + (int)(uintptr_t)device - 1);
    if (pairs && strcmp(pairs, "all") == 0)
        return link == 0 ? -1 : -2;
    for (; pairs && pairs[0] && pairs[1]; pairs += pairs[2] ? 3 : 2)
        if ((pairs[0] == self || pairs[1] == self) && link-- == 0)
            return (pairs[0] == self ? pairs[1] : pairs[0]) - '0';
    return -2;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *ret_up)
{
    *ret_up = other_end(device, link) > -2;
    return 0;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct pci *ret_pci)
{
    int other = other_end(device, link);
    if (other < 0)
        return 3;
    snprintf(ret_pci->address, sizeof ret_pci->address, "00000000:%02X:00.0", FIRST_BUS + other);
    return 0;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *ret_type)
{
    *ret_type = other_end(device, link) == -1 ? 2 : 0;
    return 0;
}
