/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/accel/device_range.h"

#include "lib/accel/device_context.h"
#include "lib/util/base/error.h"

#include <ctype.h>
#include <unistd.h>

int tern_accel_allocation(const void *address, const struct tern_accel_place *place,
                          uintptr_t *ret_base, size_t *ret_bytes)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_accel_entry entry;
    tern_cu_addr base = 0;
    size_t bytes = 0;
    int result = tern_cu_enter(driver, place, &entry);
    if (!result) {
        result = driver->address_range(&base, &bytes, (uintptr_t)address);
        tern_cu_leave(driver, &entry);
    }
    if (result)
        return tern_cu_say(driver, "find the allocation of a buffer", result);
    *ret_base = (uintptr_t)base;
    *ret_bytes = bytes;
    return 0;
}

int tern_accel_dmabuf(const void *start, size_t bytes, const struct tern_accel_place *place,
                      size_t *ret_offset)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_accel_entry entry;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)start & -page;
    uintptr_t last = ((uintptr_t)start + bytes + page - 1) & -page;
    int fd = -1;
    if (!driver->range_handle)
        return tern_error(TERN_ERR_UNSUPPORTED, "a CUDA driver before 11.7 has no DMA-BUF");
    int result = tern_cu_enter(driver, place, &entry);
    if (!result) {
        result = driver->range_handle(&fd, first, last - first, TERN_CU_RANGE_DMABUF, 0);
        tern_cu_leave(driver, &entry);
    }
    if (result) {
        tern_cu_say(driver, "make a DMA-BUF descriptor of a buffer", result);
        return TERN_ERR_UNSUPPORTED;
    }
    *ret_offset = (uintptr_t)start - first;
    return fd;
}

bool tern_accel_bus_address(int device, char ret_address[TERN_ACCEL_BUS_ADDRESS])
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    if (!driver || !driver->device_bus ||
        driver->device_bus(ret_address, TERN_ACCEL_BUS_ADDRESS, device))
        return false;
    for (char *at = ret_address; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return true;
}

int tern_accel_own_device(void)
{
    const struct tern_cu_driver *driver = tern_accel_watched ? tern_cu_driver() : NULL;
    tern_cu_context context = NULL;
    int device, count;
    if (!driver)
        return -1;
    if (driver->context_current(&context) == 0 && context && driver->context_device(&device) == 0)
        return device;
    return driver->device_count(&count) == 0 && count == 1 ? 0 : -1;
}
