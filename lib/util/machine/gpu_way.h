/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_GPU_WAY_H
#define TERN_GPU_WAY_H

/*
 * Where a GPU is, in a form that processes pass to each other, and how two of them reach each
 * other: on the PCI bus (pci_way.h), and by NVLink (nvml.h).
 */

#include <stdbool.h>
#include <stdint.h>

enum { TERN_GPU_WAY = 160, TERN_GPU_LINKS = 18 };

/* Where a GPU is. All zero: not known. */
struct tern_gpu_way {
    char way[TERN_GPU_WAY]; /* the device's folder below /sys/devices; "": not known */
    int32_t node;           /* NUMA node; -1: the kernel does not know */
    int32_t switched;       /* NVLink connections to switches */
    /* the addresses on the bus of the GPUs at the other ends of the other connections
     * (tern_gpu_address) */
    uint64_t linked[TERN_GPU_LINKS];
    int32_t links;
};

/* How two GPUs reach each other, the shortest first. */
enum tern_gpu_reach {
    TERN_GPU_SAME, /* it is one GPU */
    TERN_GPU_NVLINK,
    TERN_GPU_SWITCH, /* of the PCI bus */
    TERN_GPU_ROOT,   /* of the PCI bus: a host bridge */
    TERN_GPU_NODE,   /* NUMA node */
    TERN_GPU_FAR,    /* or not known */
    TERN_GPU_REACHES
};

/* Returns an address of the bus, such as "0000:17:00.0", as a number; domains may have four or
 * eight digits. 0: it is none. */
uint64_t tern_gpu_address(const char *address);

/* Finds the GPU at an address of the bus. `root` is "" for this host, or in tests a directory with
 * recorded files. Loads NVML, which takes some tens of milliseconds at the first time. Returns
 * false if the kernel does not know the device: then all of *ret_way is zero. */
bool tern_gpu_find(const char *root, const char *address, struct tern_gpu_way *ret_way);

enum tern_gpu_reach tern_gpu_reach(const struct tern_gpu_way *one,
                                   const struct tern_gpu_way *other);

#endif
