/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_NIC_H
#define TERN_OFI_NIC_H

/* What the system knows of a network card: where it is, and whether its link is up. A card is named
 * as libfabric names its domain: mlx5_0, cxi0, eth0. */

#include <stdbool.h>
#include <stdint.h>

/* Returns the mean distance between the card and the processors of this process, as the kernel
 * gives it for NUMA nodes: 10 within a node. 0: not known. `root` is "" for this host, or in tests
 * a directory with recorded files. */
int tern_ofi_nic_distance(const char *root, const char *device);

/* Returns a distance of the same kind between the card and the GPU at an address of the PCI bus
 * ("0000:17:00.0"): 10 by a switch, 20 by the root of a bus, 30 within a NUMA node, 40 beyond. 0:
 * not known. */
int tern_ofi_nic_device_distance(const char *root, const char *device, const char *address);
/* Returns the devices with the least distance, a bit for each. Pure. */
uint32_t tern_ofi_nics_nearest(const int *distances, uint32_t count);

/* Orders `count` devices by their distances, the nearest first; one whose distance is not known is
 * between near and far. Devices of one distance are shared out: a rank with `before` ranks before
 * it begins at the device of that number. Sets *ret_order to indices. Pure. */
void tern_ofi_nics_order(const int *distances, uint32_t count, uint32_t before,
                         uint32_t *ret_order);

/* Returns false if the system says that the card's link is down. Blocks: one or two system calls.
 */
bool tern_ofi_nic_is_up(const char *device);

#endif
