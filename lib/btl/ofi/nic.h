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

/* Orders `count` devices by their distances, the nearest first; one whose distance is not known is
 * between near and far. Devices of one distance are shared out: a rank with `before` ranks before
 * it begins at the device of that number. Sets *ret_order to indices. Pure. */
void tern_ofi_nics_order(const int *distances, uint32_t count, uint32_t before,
                         uint32_t *ret_order);

/* Returns false if the system says that the card's link is down. Blocks: one or two system calls.
 */
bool tern_ofi_nic_is_up(const char *device);

#endif
