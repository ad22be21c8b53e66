/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PCI_WAY_H
#define TERN_PCI_WAY_H

/*
 * Where a device is on the PCI bus, and how two devices reach each other. The kernel names a device
 * by the way to it, such as /sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0, so the
 * common part of two names tells what two devices have in common: a switch, or the root of a bus
 * only.
 */

#include <limits.h>
#include <stdbool.h>

struct tern_pci_way {
    char way[PATH_MAX]; /* the device's folder below root/sys/devices */
    int node;           /* NUMA node; -1: the kernel does not know */
};

/* Finds the device behind a link or folder of /sys, such as /sys/class/net/eth0/device. `root` is
 * "" for this host, or in tests a directory with recorded files. Returns false if it is no device
 * of the PCI bus, nor a part of one. */
bool tern_pci_find(const char *root, const char *link, struct tern_pci_way *ret_way);
/* Returns the address on the bus, such as "0000:17:00.0". It points into `way`. */
const char *tern_pci_address(const struct tern_pci_way *way);

/* How two devices reach each other, the shortest first. */
enum tern_pci_reach { TERN_PCI_SWITCH, TERN_PCI_ROOT, TERN_PCI_NODE, TERN_PCI_FAR };
enum tern_pci_reach tern_pci_reach(const struct tern_pci_way *one,
                                   const struct tern_pci_way *other);

#endif
