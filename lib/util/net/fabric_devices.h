/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FABRIC_DEVICES_H
#define TERN_FABRIC_DEVICES_H

/* The network devices of this host for which libfabric has a provider: InfiniBand, RoCE, iWARP,
 * EFA, Slingshot, Omni-Path. Found in /sys in some 20 us, so a host without such a device never
 * loads libfabric. */

#include <stdbool.h>
#include <stddef.h>

/* Writes the names of the devices, "mlx5_0 (infiniband), cxi0 (cxi)". Returns true if there is
 * one. `text` may be NULL. */
bool tern_fabric_devices(char *text, size_t room);

/* Prints them, or that there is none. */
void tern_fabric_devices_show(void);

#endif
