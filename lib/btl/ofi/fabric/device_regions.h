/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_DEVICE_REGIONS_H
#define TERN_OFI_DEVICE_REGIONS_H

/*
 * Registrations of device memory. Registering takes long (the driver pins pages and tells the
 * network card), so whole allocations are registered, and stay so after a message. The kernel does
 * not report when such memory is freed; but the CUDA driver gives each allocation a number
 * (BUFFER_ID) that it never uses again. A registration is only used for memory that has its number,
 * so an address that was freed and got again never meets an old one. Registrations of memory that
 * was freed end when the next one is made. Any thread may call.
 */

#include "lib/accel/accel.h"
#include "lib/btl/ofi/fabric/region_cache.h"

/* As tern_ofi_cache_get, for memory at `place`. If the provider has refused this allocation before,
 * it is not asked again. */
int tern_ofi_device_get(uint32_t rail, struct fid_ep *endpoint, const void *start, size_t length,
                        uint64_t access, const struct tern_accel_place *place,
                        struct tern_ofi_kept **ret_kept);
/* As tern_ofi_cache_put, for a registration with `by_id`. */
void tern_ofi_device_put(struct tern_ofi_kept *kept);
/* As tern_ofi_cache_forget, for device memory; NULL: of all endpoints. */
void tern_ofi_devices_forget(struct fid_ep *endpoint);

#endif
