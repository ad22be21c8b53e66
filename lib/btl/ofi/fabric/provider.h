/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_PROVIDER_H
#define TERN_OFI_PROVIDER_H

/* Which of libfabric's providers is used, and by which devices. */

#include "lib/btl/ofi/fabric/fabric.h"

#include <rdma/fabric.h>
#include <stdbool.h>

/* Chooses a provider: the one that btl_ofi_provider names, or else the best one for the hardware of
 * this host; never by itself one that works over sockets or shared memory, because ours are faster.
 * Then up to btl_ofi_rails devices: those that btl_ofi_device names, or else the nearest ones,
 * which local ranks share out. Sets *ret_choice; the caller frees each entry by
 * tern_ofi_library.freeinfo. Returns 0; TERN_ERR_OTHER with text if what was named cannot be used,
 * or libfabric cannot be loaded; TERN_ERR_UNSUPPORTED with text if none was named and none fits. */
int tern_ofi_provider_choose(struct tern_ofi_choice *ret_choice);

/* Returns what to ask libfabric for, to be freed by tern_ofi_library.freeinfo: `caps` and what
 * messages need. NULL if there is no memory. */
struct fi_info *tern_ofi_provider_hints(uint64_t caps);

/* Returns true if the provider works by hardware that moves bytes without the processor. Pure. */
bool tern_ofi_provider_is_hardware(const struct fi_info *info);

/* Prints all providers of this host with their devices: which one is `chosen` (NULL: none) with the
 * devices `used`, and why not the others. libfabric must be loaded. */
void tern_ofi_provider_show(const struct fi_info *chosen, const char *used);

/* Returns true if the provider gives a buffer for many messages (FI_MULTI_RECV) back only when the
 * last of them has arrived. Pure but for the version of libfabric. */
bool tern_ofi_provider_fills_buffers(const struct fi_info *info);

/* Returns true if the provider may copy to and from windows. Pure. */
bool tern_ofi_provider_copies(const struct fi_info *info);

/* Returns true if the provider completes a write with FI_DELIVERY_COMPLETE when its bytes are in
 * the peer's memory. Asks libfabric. */
bool tern_ofi_provider_delivers(const struct fi_info *info);

/* Returns true if the provider's addresses are IP addresses, so that ranks on hosts of different
 * subnets may reach each other. Pure. */
bool tern_ofi_provider_routes(const struct fi_info *info);

#endif
