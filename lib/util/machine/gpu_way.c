/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/machine/gpu_way.h"

#include "lib/util/machine/nvml.h"
#include "lib/util/machine/pci_way.h"

#include <stdio.h>
#include <string.h>

uint64_t tern_gpu_address(const char *address)
{
    unsigned domain, bus, device, function;
    if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
        return 0;
    return (uint64_t)domain << 32 | bus << 16 | device << 8 | function | 1ull << 63;
}

bool tern_gpu_find(const char *root, const char *address, struct tern_gpu_way *ret_way)
{
    struct tern_pci_way pci;
    char path[64];
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.20s", address);
    memset(ret_way, 0, sizeof *ret_way);
    if (!tern_pci_find(root, path, &pci) || strlen(pci.way) >= TERN_GPU_WAY)
        return false;
    memcpy(ret_way->way, pci.way, strlen(pci.way) + 1);
    ret_way->node = pci.node;
    ret_way->links = tern_nvml_linked(address, ret_way->linked, &ret_way->switched);
    return true;
}

static bool leads_to(const struct tern_gpu_way *one, const struct tern_gpu_way *other)
{
    uint64_t address = tern_gpu_address(strrchr(other->way, '/') + 1);
    for (int i = 0; i < one->links; i++)
        if (one->linked[i] == address)
            return true;
    return false;
}

enum tern_gpu_reach tern_gpu_reach(const struct tern_gpu_way *one,
                                   const struct tern_gpu_way *other)
{
    struct tern_pci_way a = {.node = one->node}, b = {.node = other->node};
    if (!one->way[0] || !other->way[0])
        return TERN_GPU_FAR;
    if (strcmp(one->way, other->way) == 0)
        return TERN_GPU_SAME;
    if (leads_to(one, other) || leads_to(other, one) || (one->switched && other->switched))
        return TERN_GPU_NVLINK;
    memcpy(a.way, one->way, sizeof one->way);
    memcpy(b.way, other->way, sizeof other->way);
    switch (tern_pci_reach(&a, &b)) {
    case TERN_PCI_SWITCH: return TERN_GPU_SWITCH;
    case TERN_PCI_ROOT: return TERN_GPU_ROOT;
    case TERN_PCI_NODE: return TERN_GPU_NODE;
    default: return TERN_GPU_FAR;
    }
}
