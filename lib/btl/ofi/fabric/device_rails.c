/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/fabric/device_rails.h"

#include "lib/accel/device_range.h"
#include "lib/btl/ofi/fabric/nic.h"

enum { DEVICES = 64 };

/* For each device; 0: not looked up yet. Two threads may write the same. Atomic. */
static uint32_t near[DEVICES];

static uint32_t look(int device)
{
    int distances[TERN_OFI_RAILS];
    char address[TERN_ACCEL_BUS_ADDRESS];
    if (!tern_accel_bus_address(device, address))
        return UINT32_MAX;
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++)
        distances[i] = tern_ofi_nic_device_distance("", tern_ofi_device(i), address);
    return tern_ofi_nics_nearest(distances, tern_ofi_fabric.rail_count);
}

uint32_t tern_ofi_device_rails(const struct tern_accel_place *place)
{
    int device = place->device;
    if (tern_ofi_fabric.rail_count < 2 || device < 0 || device >= DEVICES)
        return UINT32_MAX;
    uint32_t rails = __atomic_load_n(&near[device], __ATOMIC_RELAXED);
    if (!rails) {
        rails = look(device);
        __atomic_store_n(&near[device], rails, __ATOMIC_RELAXED);
    }
    return rails;
}

uint32_t tern_ofi_memory_rails(const void *start)
{
    struct tern_accel_place place;
    if (!tern_ofi_fabric.devices || tern_ofi_fabric.rail_count < 2 ||
        !tern_accel_find(start, &place))
        return UINT32_MAX;
    return tern_ofi_device_rails(&place);
}
